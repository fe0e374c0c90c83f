package snarl.compiler.shape;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * A class file cut into its parts: constants, members and attributes, whose contents stay bytes. It
 * reads what compilers have just written, so it trusts the form, and knows nothing of code.
 */
final class ClassBytes {
    final byte[] bytes;
    final int access;
    final String name;
    final String superName;
    final List<String> interfaces;
    final List<Member> fields;
    final List<Member> methods;
    final Map<String, Slice> attributes;

    /** For every constant: where its content begins, behind the tag. */
    private final int[] constants;

    private int at;

    record Member(int access, String name, String descriptor, Map<String, Slice> attributes) {}

    /** The content of an attribute. */
    record Slice(int from, int to) {}

    /**
     * A class that is no member of a package, as the classes that have to do with it know it.
     *
     * @param outer the class it is a member of; empty for local ones
     */
    record InnerClass(String name, String outer, String simpleName, int access) {}

    ClassBytes(byte[] bytes) {
        this(bytes, ClassBytes::members);
    }

    private ClassBytes(byte[] bytes, Function<ClassBytes, List<Member>> readMembers) {
        this.bytes = bytes;
        at = 8;
        constants = constants();
        access = u2();
        name = className(u2());
        superName = className(u2());
        interfaces = names(u2());
        fields = readMembers.apply(this);
        methods = readMembers.apply(this);
        attributes = attributes();
    }

    /** As if it had no members: for those who look at many classes, and only from outside. */
    static ClassBytes withoutMembers(byte[] bytes) {
        return new ClassBytes(bytes, ClassBytes::noMembers);
    }

    /** Reads from an attribute's content. */
    Cursor open(Slice slice) {
        return new Cursor(slice.from);
    }

    String utf8(int index) {
        if (index == 0) return "";
        int from = constants[index];
        int length = u2At(from);
        boolean ascii = true;
        for (int i = from + 2; i < from + 2 + length && ascii; i++) ascii = bytes[i] > 0;
        if (ascii) return new String(bytes, from + 2, length, StandardCharsets.ISO_8859_1);
        try {
            return new DataInputStream(new ByteArrayInputStream(bytes, from, length + 2)).readUTF();
        } catch (IOException wrong) {
            throw new IllegalArgumentException("a constant that is no text", wrong);
        }
    }

    String className(int index) {
        return index == 0 ? "" : utf8(u2At(constants[index]));
    }

    int tag(int index) {
        return bytes[constants[index] - 1];
    }

    /** A constant as text that tells its kind and value, for comparison. */
    String value(int index) {
        int from = constants[index];
        return switch (tag(index)) {
            case 1 -> "utf8 " + utf8(index);
            case 3 -> "int " + u4At(from);
            case 4 -> "float " + u4At(from);
            case 5 -> "long " + u4At(from) + " " + u4At(from + 4);
            case 6 -> "double " + u4At(from) + " " + u4At(from + 4);
            case 8 -> "string " + utf8(u2At(from));
            default -> "class " + utf8(u2At(from));
        };
    }

    /** The text of a string constant, or null if the constant is of another kind. */
    String string(int index) {
        return tag(index) == 8 ? utf8(u2At(constants[index])) : null;
    }

    /** Reads values one after another. */
    final class Cursor {
        int at;

        private Cursor(int at) {
            this.at = at;
        }

        int u1() {
            return bytes[at++] & 0xFF;
        }

        int u2() {
            at += 2;
            return u2At(at - 2);
        }

        int u4() {
            at += 4;
            return u4At(at - 4);
        }
    }

    List<InnerClass> innerClasses() {
        List<InnerClass> found = new ArrayList<>();
        Slice slice = attributes.get("InnerClasses");
        if (slice == null) return found;
        Cursor in = open(slice);
        for (int count = in.u2(); count > 0; count--)
            found.add(
                    new InnerClass(
                            className(in.u2()), className(in.u2()), utf8(in.u2()), in.u2()));
        return found;
    }

    private int[] constants() {
        int count = u2();
        int[] starts = new int[count];
        for (int i = 1; i < count; i++) {
            int tag = bytes[at];
            starts[i] = at + 1;
            at +=
                    1
                            + switch (tag) {
                                case 1 -> 2 + u2At(at + 1);
                                case 7, 8, 16, 19, 20 -> 2;
                                case 15 -> 3;
                                case 5, 6 -> 8;
                                default -> 4;
                            };
            if (tag == 5 || tag == 6) i++; // these take two places
        }
        return starts;
    }

    private List<String> names(int count) {
        List<String> names = new ArrayList<>(count);
        for (int i = 0; i < count; i++) names.add(className(u2()));
        return names;
    }

    private List<Member> members() {
        int count = u2();
        List<Member> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
            members.add(new Member(u2(), utf8(u2()), utf8(u2()), attributes()));
        return members;
    }

    private List<Member> noMembers() {
        for (int members = u2(); members > 0; members--) {
            at += 6; // flags, name, descriptor
            for (int attributes = u2(); attributes > 0; attributes--) at += 6 + u4At(at + 2);
        }
        return List.of();
    }

    private Map<String, Slice> attributes() {
        int count = u2();
        Map<String, Slice> attributes = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String attribute = utf8(u2());
            int length = u4At(at);
            attributes.put(attribute, new Slice(at + 4, at + 4 + length));
            at += 4 + length;
        }
        return attributes;
    }

    private int u2() {
        at += 2;
        return u2At(at - 2);
    }

    private int u2At(int position) {
        return (bytes[position] & 0xFF) << 8 | bytes[position + 1] & 0xFF;
    }

    private int u4At(int position) {
        return u2At(position) << 16 | u2At(position + 2);
    }
}
