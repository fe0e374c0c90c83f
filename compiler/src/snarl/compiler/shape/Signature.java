package snarl.compiler.shape;

import snarl.compiler.shape.ClassBytes.Cursor;
import snarl.compiler.shape.ClassBytes.InnerClass;
import snarl.compiler.shape.ClassBytes.Member;
import snarl.compiler.shape.ClassBytes.Slice;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Everything about a class that the compilation of another file can see: its head, members,
 * constants, permitted subclasses, record components, the annotations that steer a compiler; no
 * bodies, nothing synthetic.
 *
 * <p>It has two parts. A change of the general part may matter to whoever refers to the class. A
 * change of a named part, a field or private method, can matter only to those who also write its
 * name: nobody inherits, overrides or implements such a member without naming it.
 */
public final class Signature {
    private static final int PRIVATE = 0x0002;
    private static final int SYNTHETIC = 0x1000;
    private static final int ENUM = 0x4000;

    /**
     * public, private, protected, static, final, interface, abstract, annotation, enum; not super,
     * synthetic.
     */
    private static final int CLASS_FLAGS = 0x661F;

    /**
     * public, private, protected, static, final, varargs, abstract; how a body runs is nobody's
     * business.
     */
    private static final int METHOD_FLAGS = 0x049F;

    /** public, private, protected, static, final, enum. */
    private static final int FIELD_FLAGS = 0x401F;

    private static final Signature NOTHING = new Signature("", Map.of());

    private final String general;
    private final Map<String, String> named;

    private Signature(String general, Map<String, String> named) {
        this.general = general;
        this.named = named;
    }

    public static Signature of(byte[] classFile) {
        return new Reader(new ClassBytes(classFile)).read();
    }

    /** What is different where the other was; either may be null for no class at all. */
    public static Difference between(Signature one, Signature other) {
        if (one == other) return Difference.NONE;
        Signature before = one == null ? NOTHING : one;
        Signature after = other == null ? NOTHING : other;
        Set<String> names = new TreeSet<>();
        collect(before.named, after.named, names);
        collect(after.named, before.named, names);
        return new Difference(!before.general.equals(after.general), names);
    }

    private static void collect(
            Map<String, String> one, Map<String, String> other, Set<String> names) {
        one.forEach(
                (key, value) -> {
                    if (!value.equals(other.get(key)))
                        names.add(key.substring(key.indexOf(' ') + 1));
                });
    }

    private static final class Reader {
        private final ClassBytes file;
        private final StringBuilder general = new StringBuilder();
        private final Map<String, String> named = new TreeMap<>();

        Reader(ClassBytes file) {
            this.file = file;
        }

        Signature read() {
            if (!isHidden()) {
                head();
                file.fields.forEach(this::field);
                // Compilers differ in where they put what they add, and nobody looks for a place.
                file.methods.stream()
                        .sorted(Comparator.comparing(Member::name))
                        .forEach(this::method);
                missingTypes();
            }
            return new Signature(general.toString(), named);
        }

        /** Local and anonymous classes, and all inside them, are seen by nobody else. */
        private boolean isHidden() {
            if ((file.access & SYNTHETIC) != 0) return true;
            Map<String, String> outer = new HashMap<>();
            file.innerClasses().forEach(inner -> outer.put(inner.name(), inner.outer()));
            String name = file.name;
            while (outer.containsKey(name)) name = outer.get(name);
            return name.isEmpty() || file.attributes.containsKey("EnclosingMethod");
        }

        private void head() {
            line("class", file.access & CLASS_FLAGS, file.name, file.superName, file.interfaces);
            line("generic", signature(file.attributes));
            memberTypes();
            // Those of an enum are anonymous, and not all compilers write them down.
            if ((file.access & ENUM) == 0) permitted();
            // By this the Eclipse compiler remembers that a supertype could not be found.
            line("inconsistent", file.attributes.containsKey("InconsistentHierarchy"));
            annotations("RuntimeVisibleAnnotations");
            annotations("RuntimeInvisibleAnnotations");
            record();
        }

        private void field(Member field) {
            if ((field.access() & SYNTHETIC) != 0) return;
            String text =
                    (field.access() & FIELD_FLAGS)
                            + " "
                            + field.descriptor()
                            + " "
                            + signature(field.attributes())
                            + " "
                            + constant(field.attributes());
            // All constants of an enum are in the switches over it, whether named there or not.
            if ((field.access() & ENUM) != 0) line("constant", field.name(), text);
            else named.put("field " + field.name(), text);
        }

        private void method(Member method) {
            if ((method.access() & SYNTHETIC) != 0 || method.name().equals("<clinit>")) return;
            if ((file.access & ENUM) != 0 && isOfEveryEnum(method)) return;
            String text =
                    (method.access() & METHOD_FLAGS)
                            + " "
                            + method.descriptor()
                            + " "
                            + signature(method.attributes())
                            + " "
                            + thrown(method.attributes())
                            + " "
                            + method.attributes().containsKey("AnnotationDefault");
            boolean byName = (method.access() & PRIVATE) != 0 && !method.name().equals("<init>");
            if (byName)
                named.merge("method " + method.name(), text, (one, two) -> one + "; " + two);
            else line("method", method.name(), text);
        }

        /** Also constructors: nobody can call them, and compilers differ in how they write them. */
        private boolean isOfEveryEnum(Member method) {
            String own = "L" + file.name + ";";
            return switch (method.name()) {
                case "<init>" -> true;
                case "values" -> method.descriptor().equals("()[" + own);
                case "valueOf" -> method.descriptor().equals("(Ljava/lang/String;)" + own);
                default -> false;
            };
        }

        private void memberTypes() {
            Set<String> lines = new TreeSet<>();
            for (InnerClass inner : file.innerClasses()) {
                // The class also lists what bodies use.
                if (inner.outer().equals(file.name) || inner.name().equals(file.name))
                    lines.add(
                            inner.name()
                                    + " "
                                    + inner.simpleName()
                                    + " "
                                    + (inner.access() & CLASS_FLAGS));
            }
            if (!lines.isEmpty()) line("members", lines);
        }

        private void permitted() {
            Set<String> names = names("PermittedSubclasses");
            if (!names.isEmpty()) line("permitted", names);
        }

        /**
         * By these the Eclipse compiler remembers what it could not find. It lists those of bodies
         * too, which are nobody's business.
         */
        private void missingTypes() {
            Set<String> names = names("MissingTypes");
            names.removeIf(name -> general.indexOf(name) < 0 && !named.toString().contains(name));
            if (!names.isEmpty()) line("missing", names);
        }

        private Set<String> names(String attribute) {
            Set<String> names = new TreeSet<>();
            Slice slice = file.attributes.get(attribute);
            if (slice == null) return names;
            Cursor in = file.open(slice);
            for (int count = in.u2(); count > 0; count--) names.add(file.className(in.u2()));
            return names;
        }

        private void record() {
            Slice slice = file.attributes.get("Record");
            if (slice == null) return;
            Cursor in = file.open(slice);
            line("record");
            for (int count = in.u2(); count > 0; count--) {
                line("component", file.utf8(in.u2()), file.utf8(in.u2()));
                for (int attributes = in.u2(); attributes > 0; attributes--) {
                    boolean generic = file.utf8(in.u2()).equals("Signature");
                    int end = in.u4() + in.at;
                    if (generic) line("generic", generic(in.u2()));
                    in.at = end;
                }
            }
        }

        /**
         * Those of java.lang tell the compiler where an annotation may stand, how long it lives,
         * and such.
         */
        private void annotations(String attribute) {
            Slice slice = file.attributes.get(attribute);
            if (slice == null) return;
            Cursor in = file.open(slice);
            for (int count = in.u2(); count > 0; count--) {
                String text = annotation(in);
                if (text.startsWith("Ljava/lang/")) line("annotation", text);
            }
        }

        private String annotation(Cursor in) {
            StringBuilder text = new StringBuilder(file.utf8(in.u2()));
            for (int count = in.u2(); count > 0; count--)
                text.append(' ').append(file.utf8(in.u2())).append('=').append(element(in));
            return text.toString();
        }

        private String element(Cursor in) {
            int tag = in.u1();
            switch (tag) {
                case 'e':
                    return file.utf8(in.u2()) + "." + file.utf8(in.u2());
                case '@':
                    return annotation(in);
                case '[':
                    StringBuilder text = new StringBuilder("[");
                    for (int count = in.u2(); count > 0; count--)
                        text.append(element(in)).append(' ');
                    return text.append(']').toString();
                default:
                    return file.value(in.u2());
            }
        }

        private String signature(Map<String, Slice> attributes) {
            Slice slice = attributes.get("Signature");
            return slice == null ? "" : generic(file.open(slice).u2());
        }

        /** Some compilers write {@code ? extends Object} as it stands, others as {@code ?}. */
        private String generic(int index) {
            return file.utf8(index).replace("+Ljava/lang/Object;", "*");
        }

        private String constant(Map<String, Slice> attributes) {
            Slice slice = attributes.get("ConstantValue");
            return slice == null ? "" : file.value(file.open(slice).u2());
        }

        private String thrown(Map<String, Slice> attributes) {
            Slice slice = attributes.get("Exceptions");
            if (slice == null) return "";
            Cursor in = file.open(slice);
            StringBuilder text = new StringBuilder();
            for (int count = in.u2(); count > 0; count--)
                text.append(file.className(in.u2())).append(' ');
            return text.toString();
        }

        private void line(Object... parts) {
            for (Object part : parts) general.append(part).append('\t');
            general.append('\n');
        }
    }
}
