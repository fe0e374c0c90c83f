package snarl.compiler.state;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a compiler made of one file. Plain data that every compiler fills in, and that the answer is
 * made from.
 *
 * @param attributed false if no type of the file could be looked at, so that nothing in it is more
 *     than a stub
 * @param outline null if the classes tell others all there is; else the text without bodies,
 *     because declarations are damaged and the source tells more than the classes
 * @param packageName with dots; empty for the unnamed package
 * @param declared internal names of the top-level types the file declares, also of those without a
 *     class
 */
public record Compiled(
        Status status,
        boolean errors,
        boolean syntaxErrors,
        boolean attributed,
        String outline,
        List<Problem> problems,
        List<ClassOutput> classes,
        String packageName,
        Set<String> declared,
        References references) {

    public enum Status {
        COMPILED,
        REMOVED,
        /** Not for this compiler: module declarations. */
        IGNORED,
        /** The compiler or the disk failed; nothing is known about the file. */
        FAILED,
        /** The file has errors, and this compiler makes no classes of such files. */
        WITHHELD
    }

    /**
     * @param name internal name, as in the class file
     * @param problemType whether every method of the class is a stub and its initialisers are
     *     missing
     * @param stubs methods whose body was replaced because of errors
     * @param lost names of methods that the source has and the class has not, because of errors in
     *     their heads
     */
    public record ClassOutput(
            String name,
            byte[] bytes,
            boolean problemType,
            List<MethodName> stubs,
            List<String> lost) {}

    public record MethodName(String name, String descriptor) {}

    /** The top-level types of the file, also those the compiler has made by itself. */
    Set<String> types() {
        Set<String> types = new TreeSet<>(declared);
        for (ClassOutput output : classes) {
            if (!Names.isIn(types, output.name())) types.add(output.name());
        }
        return types;
    }

    Compiled withClasses(List<ClassOutput> others) {
        return new Compiled(
                status,
                errors,
                syntaxErrors,
                attributed,
                outline,
                problems,
                others,
                packageName,
                declared,
                references);
    }

    public static Compiled failed(String message) {
        return without(Status.FAILED, List.of(Problem.nowhere(message)));
    }

    public static Compiled ignored() {
        return empty(Status.IGNORED);
    }

    static Compiled removed() {
        return empty(Status.REMOVED);
    }

    private static Compiled empty(Status status) {
        return new Compiled(
                status,
                false,
                false,
                true,
                null,
                List.of(),
                List.of(),
                "",
                Set.of(),
                References.NONE);
    }

    /** A file of which there are no classes, and of which nobody knows what it refers to. */
    public static Compiled without(Status status, List<Problem> problems) {
        return new Compiled(
                status,
                true,
                false,
                false,
                null,
                problems,
                List.of(),
                "",
                Set.of(),
                References.EVERYTHING);
    }
}
