package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;
import static snarl.compiler.tests.Suite.holds;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.javac.JavacBackend;
import snarl.compiler.shape.Difference;
import snarl.compiler.shape.Signature;
import snarl.compiler.state.Backend;
import snarl.compiler.state.Compiled;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.ModuleConfig;

import java.io.IOException;
import java.util.List;

/** A few sources over the classes that a build has made of all of them. */
final class BuiltClassTests {
    private static final String A =
            "package p; public class A { public int x; public int one() { return 1; }"
                    + " private void help() { } public static class In { public int y; } }";
    private static final String B =
            "package p; public class B { int two(A a) { return a.one() + a.x; } }";
    private static final String SUB = "package p; public class Sub extends A { A.In in; }";

    private BuiltClassTests() {}

    static void add(Suite suite) {
        first(suite);
        changed(suite);
        ghosts(suite);
        hold(suite);
        modules(suite);
        entries(suite);
        compilers(suite);
    }

    private static void first(Suite suite) {
        suite.test(
                "built classes: a file compiles alone over them, and nothing changes for others",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("B.java", B));
                        equal(List.of("B.java"), project.recompiled());
                        equal(List.of(), project.changed());
                        project.put("A.java", A);
                        equal(List.of("A.java"), project.recompiled());
                        equal(List.of(), project.changed());
                        equal(List.of(), project.errors());
                    }
                });
        suite.test(
                "built classes: a file whose body is newer than its class changes nothing either",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("B.java", B));
                        project.put("A.java", A.replace("return 1", "return 1 + 1"));
                        equal(List.of("A.java"), project.recompiled());
                        equal(List.of(), project.changed());
                    }
                });
        suite.test(
                "built classes: a file in a package of its own marks nobody",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String user = "package q; class U { p.A a; p.r.R r; }";
                        String other = "package p.r; public class R { }";
                        build(scratch, "p/A.java", A, "q/U.java", user, "p/r/R.java", other);
                        Project project = new Project(new EcjBackend());
                        project.configure(overBuild(scratch, "q/U.java", user));
                        project.put("p/r/R.java", other);
                        equal(List.of("p/r/R.java"), project.recompiled());
                        equal(List.of(), project.changed());
                    }
                });
        suite.test(
                "built classes: a file that the build does not know is told as new",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("B.java", B));
                        project.put("N.java", "package p; class N { class In { } void a() { } }");
                        equal(List.of("p/N whole", "p/N$In whole"), project.changed());
                    }
                });
    }

    private static void changed(Suite suite) {
        suite.test(
                "built classes: a changed signature is told with the names of types and members",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("B.java", B));
                        project.put("A.java", A.replace("int one", "long one"));
                        equal(List.of("p/A whole"), project.changed());
                        equal(List.of("A.java", "B.java"), project.recompiled());
                        holds(project.compiled("B.java").errors(), "a long is no int");
                        project.put("A.java", A.replace("public int x", "public long x"));
                        equal(List.of("p/A whole [x]"), project.changed());
                        project.put("A.java", A.replace("int y", "int z").replace("help", "aid"));
                        equal(List.of("p/A [aid, help, x]", "p/A$In [y, z]"), project.changed());
                        project.put("A.java", A.replace("public static class In {", "class In {"));
                        // The type around it has it in its head.
                        equal(
                                List.of("p/A whole [aid, help]", "p/A$In whole [y, z]"),
                                project.changed());
                    }
                });
        suite.test(
                "built classes: what was told is not told again, and what is undone is told",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("A.java", A));
                        String other = A.replace("int one", "long one");
                        project.put("A.java", other);
                        equal(List.of("p/A whole"), project.changed());
                        project.put("A.java", other + " ");
                        equal(List.of(), project.changed());
                        project.put("A.java", A);
                        equal(List.of("p/A whole"), project.changed());
                    }
                });
        suite.test(
                "built classes: what has changed twice before an answer is told once",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("A.java", A));
                        Request.Edit there = replace("A.java", A.replace("int one", "long one"));
                        project.edit("m", there, replace("A.java", A + " "));
                        equal(List.of(), project.changed());
                        project.edit("m", new Request.Remove("A.java"), replace("A.java", A));
                        equal(List.of(), project.changed());
                    }
                });
        suite.test(
                "built classes: a constant that follows another one is told in the same answer",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String one = "public class One { public static final int X = 1; }";
                        String two = "public class Two { public static final int Y = One.X + 1; }";
                        build(scratch, "One.java", one, "Two.java", two);
                        Project project = new Project(new EcjBackend());
                        project.configure(overBuild(scratch, "Two.java", two));
                        project.put("One.java", one.replace("X = 1", "X = 5"));
                        equal(List.of("One [X]", "Two [Y]"), project.changed());
                    }
                });
        suite.test(
                "built classes: a removed file leaves what the build has made of it",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("B.java", B, "A.java", A + " "));
                        project.remove("A.java");
                        equal(List.of(), project.changed());
                        equal(List.of(), project.recompiled());
                        project.put("A.java", A.replace("int one", "long one"));
                        holds(project.compiled("B.java").errors(), project.errors());
                        project.remove("A.java");
                        equal(List.of("p/A whole"), project.changed());
                        equal(List.of("B.java"), project.recompiled());
                        equal(List.of(), project.errors());
                        project.put("N.java", "package p; class N { }");
                        project.remove("N.java");
                        equal(List.of("p/N whole"), project.changed());
                    }
                });
        suite.test(
                "built classes: a type that moves to another file changes nothing for others",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("A.java", A));
                        project.edit(
                                "m",
                                replace("A.java", "package p;"),
                                replace("Other.java", A + " class More { }"));
                        equal(List.of("p/More whole"), project.changed());
                    }
                });
    }

    private static void ghosts(Suite suite) {
        suite.test(
                "built classes: a nested type that its source has lost is not found",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("Sub.java", SUB));
                        String without = A.replace("public static class In { public int y; }", "");
                        project.put("A.java", without);
                        equal(List.of("p/A whole", "p/A$In whole [y]"), project.changed("A"));
                        equal(List.of("A.java", "Sub.java"), project.recompiled());
                        equal(
                                List.of("Sub.java:1: A.In cannot be resolved to a type"),
                                project.errors());
                        project.put("A.java", A);
                        equal(List.of(), project.errors());
                    }
                });
        suite.test(
                "built classes: a lost nested type is not found by way of a class either",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        build(scratch, "A.java", A, "Sub.java", SUB);
                        Project project = new Project(new EcjBackend());
                        String user = "package p; class U { Object y(Sub s) { return s.in.y; } }";
                        String without = A.replace("public static class In { public int y; }", "");
                        // Both in one run: that there was such a type is only known from the text.
                        project.configure(
                                overBuild(scratch, "A.java", without, "U.java", user));
                        holds(project.compiled("U.java").errors(), project.errors());
                    }
                });
        suite.test(
                "built classes: another type of a file is not found when the file has lost it",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String two = A + " class Aside { static int z; class In { } }";
                        build(scratch, "A.java", two, "B.java", B);
                        Project project = new Project(new EcjBackend());
                        String user = "package p; class U { int z = Aside.z; Aside.In in; }";
                        project.configure(overBuild(scratch, "U.java", user));
                        equal(List.of(), project.errors());
                        project.put("A.java", A);
                        equal(
                                List.of("p/Aside whole [z]", "p/Aside$In whole"),
                                project.changed("A"));
                        equal(List.of("A.java", "U.java"), project.recompiled());
                        holds(project.compiled("U.java").errors(), project.errors());
                        project.put("A.java", two);
                        equal(List.of(), project.errors());
                    }
                });
        suite.test(
                "built classes: a file that is told as empty has no types any more",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("A.java", A, "B.java", B));
                        project.put("A.java", "");
                        equal(
                                List.of("p/A whole [help, x]", "p/A$In whole [y]"),
                                project.changed("A"));
                        holds(project.compiled("B.java").errors(), project.errors());
                        project.put("A.java", A.replace("package p", "package q"));
                        holds(project.compiled("B.java").errors(), "it has moved");
                    }
                });
        suite.test(
                "built classes: a package whose files have all moved away is gone",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String user = "import p.*; class U { }";
                        build(scratch, "A.java", A, "B.java", B);
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                overBuild(scratch, "A.java", A, "B.java", B, "U.java", user));
                        project.put("A.java", A.replace("package p", "package q"));
                        holds(!project.compiled("U.java").errors(), project.errors());
                        project.put("B.java", B.replace("package p", "package q"));
                        equal(
                                List.of("U.java:1: The import p cannot be resolved"),
                                project.errors());
                    }
                });
        suite.test(
                "built classes: a generated type with a dollar in its name is nobody's nested type",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String made = "package p; public class A$$Made { static int made; }";
                        build(scratch, "A.java", A, "A$$Made.java", made);
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                overBuild(
                                        scratch,
                                        "A.java",
                                        A,
                                        "U.java",
                                        "package p; class U { int m = A$$Made.made; }"));
                        equal(List.of(), project.errors());
                        scratch.delete("out/p/A$$Made.class");
                        project.edit("m", new Request.ClassPathChanged(out(scratch)));
                        equal(1, project.errors().size());
                    }
                });
    }

    private static void hold(Suite suite) {
        suite.test(
                "built classes: with hold, a file that is damaged from the start offers them",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        build(scratch, "A.java", A, "B.java", B);
                        Project project = new Project(new EcjBackend());
                        String damaged = A.replace("int one()", "int one(");
                        project.configure(
                                Project.holding(
                                        overBuild(scratch, "A.java", damaged, "B.java", B)));
                        holds(project.compiled("A.java").syntaxErrors(), "it is damaged");
                        holds(!project.compiled("B.java").errors(), project.errors());
                        equal(List.of(), project.changed());
                        project.put("A.java", damaged + " ");
                        equal(List.of("A.java"), project.recompiled());
                        project.put("A.java", A.replace("int one()", "long one()"));
                        equal(List.of("p/A whole"), project.changed());
                        equal(List.of("A.java", "B.java"), project.recompiled());
                    }
                });
        suite.test(
                "built classes: with hold, a damaged file offers types of its own where there are"
                        + " none",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        build(scratch, "A.java", A, "B.java", B);
                        Project project = new Project(new EcjBackend());
                        String damaged = A.replace("int one", "Missing one") + " class More { }";
                        String user = "package p; class U { More m; int one = new A().one(); }";
                        project.configure(
                                Project.holding(
                                        overBuild(scratch, "A.java", damaged, "U.java", user)));
                        holds(!project.compiled("U.java").errors(), project.errors());
                        equal(List.of("p/More whole"), project.changed("A"));
                    }
                });
        suite.test(
                "built classes: with hold, a type that damage has swallowed is seen as it was",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String two = A + " class More { static int z; }";
                        String user = "package p; class U { int z = More.z; }";
                        build(scratch, "p/A.java", two);
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                Project.holding(
                                        overBuild(scratch, "p/A.java", A, "U.java", user)));
                        holds(project.compiled("U.java").errors(), "it is whole, and has lost it");
                        for (String damaged : List.of(A.replace("}", ""), "pack p; {{")) {
                            project = new Project(new EcjBackend());
                            project.configure(
                                    Project.holding(
                                            overBuild(
                                                    scratch,
                                                    "p/A.java",
                                                    damaged,
                                                    "U.java",
                                                    user)));
                            holds(!project.compiled("U.java").errors(), project.errors());
                        }
                    }
                });
        suite.test(
                "with hold, what is compiled together with a damaged file sees what that file"
                        + " offers",
                () -> {
                    Project project = new Project(new EcjBackend());
                    project.configure(
                            Project.holding(Project.module("m", 17, "A.java", A, "B.java", B)));
                    project.edit(
                            "m",
                            replace("A.java", A.replace("int one", "Missing one")),
                            replace("B.java", B + " "));
                    holds(project.compiled("A.java").errors(), "it is damaged");
                    holds(!project.compiled("B.java").errors(), project.errors());
                });
    }

    private static void modules(Suite suite) {
        suite.test(
                "built classes: a module sees those of another as far as that has no sources",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        build(scratch, "A.java", A, "Sub.java", SUB);
                        Project project = new Project(new EcjBackend());
                        ModuleConfig lib =
                                Project.withClassPath(Project.module("lib", 17), out(scratch));
                        String user = "class U { p.A.In in; int one = new p.A().one(); }";
                        ModuleConfig app =
                                Project.dependingOn(
                                        overBuild(scratch, "U.java", user), "lib");
                        project.configure(lib, app);
                        equal(List.of(), project.errors());
                        project.edit("lib", replace("A.java", A));
                        equal(List.of("A.java"), project.recompiled());
                        String without = A.replace("public static class In { public int y; }", "");
                        project.edit("lib", replace("A.java", without));
                        equal(List.of("p/A whole", "p/A$In whole [y]"), project.changed("A"));
                        equal(List.of("A.java", "U.java"), project.recompiled());
                        equal(
                                List.of("U.java:1: p.A.In cannot be resolved to a type"),
                                project.errors());
                        project.edit("lib", new Request.Remove("A.java"));
                        equal(List.of(), project.errors());
                    }
                });
        suite.test(
                "built classes: a module with other classes than its dependency's is compiled",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        build(scratch, "A.java", A.replace("int one", "long one"));
                        Project project = new Project(new EcjBackend());
                        String user = "class U { int one = (int) new p.A().one(); }";
                        ModuleConfig lib = Project.module("lib", 17);
                        ModuleConfig app =
                                Project.dependingOn(overBuild(scratch, "U.java", user), "lib");
                        project.configure(lib, app);
                        project.edit("lib", replace("A.java", A));
                        // On the class path of the library there is nothing, on that of the user
                        // there is something else.
                        equal(
                                List.of("p/A whole [help, x]", "p/A$In whole [y]"),
                                project.changed("A"));
                        equal(List.of("A.java", "U.java"), project.recompiled());
                    }
                });
    }

    private static void entries(Suite suite) {
        suite.test(
                "built classes: a build while a file is open changes nothing about that file",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String edited = A.replace("int one", "long one");
                        Project project = over(scratch, files("A.java", edited, "B.java", B));
                        equal(1, project.errors().size());
                        // The build has the edit, and a body besides.
                        build(scratch, "A.java", edited, "Sub.java", SUB + " ");
                        project.edit("m", new Request.ClassPathChanged(out(scratch)));
                        equal(List.of(), project.recompiled());
                        project.remove("A.java");
                        equal(List.of(), project.changed());
                        equal(List.of(), project.recompiled());
                    }
                });
        suite.test(
                "built classes: a build that changes other classes compiles those who see them",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        Project project = over(scratch, files("B.java", B));
                        build(scratch, "A.java", A.replace("int one", "long one"));
                        project.edit("m", new Request.ClassPathChanged(out(scratch)));
                        equal(List.of("B.java"), project.recompiled());
                        equal(1, project.errors().size());
                    }
                });
        suite.test(
                "built classes: a new build gives a damaged file other classes to offer",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        build(scratch, "A.java", A, "B.java", B);
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                Project.holding(
                                        overBuild(scratch, "A.java", A + "}", "B.java", B)));
                        holds(!project.compiled("B.java").errors(), project.errors());
                        build(scratch, "A.java", A.replace("int one", "long one"));
                        project.edit("m", new Request.ClassPathChanged(out(scratch)));
                        holds(project.compiled("B.java").errors(), project.errors());
                        scratch.delete("out/p/A.class");
                        project.edit("m", new Request.ClassPathChanged(out(scratch)));
                        holds(!project.compiled("B.java").errors(), project.errors());
                    }
                });
    }

    private static void compilers(Suite suite) {
        String[] all = {
            "E.java",
            "public enum E { ONE, TWO { int v() { return 2; } }; int v() { return 1; }"
                    + " E() { } enum Plain { A } }",
            "R.java",
            "import java.util.*; public record R(int a, List<? extends Object> b, String... c) {"
                    + " public R { } R(int a) { this(a, null); } static int x; private void p() { }"
                    + " }",
            "S.java",
            "public sealed interface S permits S.L, S.M { record L(S s) implements S { }"
                    + " final class M implements S { private M() { } void m() { } } }",
            "G.java",
            "import java.util.function.*; public abstract class G<T extends Comparable<T>>"
                    + " implements Comparable<G<T>> { protected final int c = 1; long d = c;"
                    + " static final String Q = \"q\" + 1; class In<U> { private class Deep { } }"
                    + " @Deprecated public int compareTo(G<T> o) { class Local { class Member { } }"
                    + " Function<T, U<?>> f = t -> null; Runnable r = new Runnable() { public void"
                    + " run() { switch (E.ONE) { case ONE: assert c > 0; } } }; return"
                    + " new In<T>().hashCode(); } static class U<V> { } @SafeVarargs static <A, B"
                    + " extends Exception> void t(A... a) throws B, java.io.IOException { } }",
            "N.java",
            "import java.lang.annotation.*; @Retention(RetentionPolicy.RUNTIME)"
                    + " @Target({ElementType.TYPE, ElementType.FIELD}) public @interface N {"
                    + " int a() default 1; Class<?>[] b(); }",
        };
        suite.test(
                "built classes: another compiler's classes of the same text are no change",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        build(new JavacBackend(), scratch, all);
                        Project project = new Project(new EcjBackend());
                        project.configure(overBuild(scratch, all));
                        equal(List.of(), project.errors());
                        equal(List.of(), project.changed());
                    }
                });
        suite.test(
                "built classes: all that is in this program's own classes is the same for both",
                () -> {
                    Project javac = new Project(new JavacBackend());
                    Project ecj = new Project(new EcjBackend());
                    for (Project project : List.of(javac, ecj)) {
                        project.configure(
                                new ModuleConfig(
                                        "m",
                                        "",
                                        0,
                                        17,
                                        false,
                                        "",
                                        false,
                                        List.of(),
                                        List.of(System.getProperty("snarl.ecj")),
                                        List.of(System.getProperty("snarl.sources")),
                                        List.of()));
                        equal(List.of(), project.errors());
                    }
                    ecj.classes()
                            .forEach(
                                    (name, output) -> {
                                        Signature own = Signature.of(output.bytes());
                                        Signature other =
                                                Signature.of(javac.classes().get(name).bytes());
                                        Difference found = Signature.between(own, other);
                                        equal(name + " " + Difference.NONE, name + " " + found);
                                    });
                });
        suite.test(
                "javac: a file over its built classes, a lost nested type, a removed file",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        build(scratch, "A.java", A, "Sub.java", SUB);
                        Project project = new Project(new JavacBackend());
                        String user = "package p; class U { Object y(Sub s) { return s.in.y; } }";
                        project.configure(overBuild(scratch, "U.java", user));
                        project.put("A.java", A);
                        equal(List.of("A.java"), project.recompiled());
                        equal(List.of(), project.changed());
                        String without = A.replace("public static class In { public int y; }", "");
                        project.put("A.java", without);
                        equal(List.of("p/A whole", "p/A$In whole [y]"), project.changed("A"));
                        project.put("U.java", user + " ");
                        equal(Compiled.Status.WITHHELD, project.compiled("U.java").status());
                        project.remove("A.java");
                        project.put("U.java", user);
                        equal(Compiled.Status.COMPILED, project.compiled("U.java").status());
                        project.edit(
                                "m", replace("A.java", without), replace("U.java", user + "  "));
                        equal(Compiled.Status.WITHHELD, project.compiled("U.java").status());
                    }
                });
    }

    private static String[] files(String... files) {
        return files;
    }

    private static Request.Edit replace(String path, String text) {
        return new Request.Replace(new Request.FileText(path, text));
    }

    /** A project with some files over the classes of A, B and Sub. */
    private static Project over(Scratch scratch, String[] files) throws IOException {
        build(scratch, "A.java", A, "B.java", B, "Sub.java", SUB);
        Project project = new Project(new EcjBackend());
        project.configure(overBuild(scratch, files));
        return project;
    }

    private static ModuleConfig overBuild(Scratch scratch, String... files) {
        return Project.withClassPath(Project.module("m", 17, files), out(scratch));
    }

    private static String out(Scratch scratch) {
        return scratch.root.resolve("out").toString();
    }

    private static void build(Scratch scratch, String... files) throws IOException {
        build(new EcjBackend(), scratch, files);
    }

    /** Writes the classes of the files as a build does. */
    private static void build(Backend compiler, Scratch scratch, String... files)
            throws IOException {
        Project project = new Project(compiler);
        project.configure(Project.module("m", 17, files));
        equal(List.of(), project.errors());
        for (var output : project.classes().values())
            scratch.write("out/" + output.name() + ".class", output.bytes());
    }
}
