package snarl.compiler.shape;

import snarl.compiler.shape.ClassBytes.Cursor;
import snarl.compiler.shape.ClassBytes.Member;
import snarl.compiler.shape.ClassBytes.Slice;
import snarl.compiler.state.Compiled.MethodName;

import java.util.ArrayList;
import java.util.List;

/**
 * Finds the methods whose body the Eclipse compiler has replaced by {@code throw new
 * Error("Unresolved compilation problem…")}. The class file is asked and not the syntax tree,
 * because stubs come about in many ways and only there all of them look the same. Ask only for
 * files with errors: anybody may write such a statement.
 */
public final class ProblemStubs {
    private static final int LDC = 0x12;
    private static final int LDC_W = 0x13;
    private static final int DUP = 0x59;
    private static final int INVOKESPECIAL = 0xB7;
    private static final int NEW = 0xBB;
    private static final int ATHROW = 0xBF;

    private ProblemStubs() {}

    /** In the order of the class file. */
    public static List<MethodName> in(byte[] classFile, String message) {
        ClassBytes file = new ClassBytes(classFile);
        List<MethodName> stubs = new ArrayList<>();
        for (Member method : file.methods) {
            if (isStub(file, method, message))
                stubs.add(new MethodName(method.name(), method.descriptor()));
        }
        return stubs;
    }

    private static boolean isStub(ClassBytes file, Member method, String message) {
        Slice slice = method.attributes().get("Code");
        if (slice == null) return false;
        Cursor in = file.open(slice);
        in.u2(); // stack
        in.u2(); // locals
        int length = in.u4();
        if (length != 10 && length != 11) return false;
        if (in.u1() != NEW || !file.className(in.u2()).equals("java/lang/Error") || in.u1() != DUP)
            return false;
        int load = in.u1();
        if (load != LDC && load != LDC_W) return false;
        String text = file.string(load == LDC ? in.u1() : in.u2());
        if (text == null || !text.startsWith(message) || in.u1() != INVOKESPECIAL) return false;
        in.u2();
        return in.u1() == ATHROW;
    }
}
