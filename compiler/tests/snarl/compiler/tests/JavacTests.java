package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;
import static snarl.compiler.tests.Suite.holds;

import snarl.compiler.javac.JavacBackend;
import snarl.compiler.state.Compiled;
import snarl.compiler.wire.Request;

import java.util.List;

/** The compiler of the JDK behind the same requests. */
final class JavacTests {
    private JavacTests() {}

    private static Project of(String... files) {
        Project project = new Project(new JavacBackend());
        project.configure(Project.module("m", 17, files));
        return project;
    }

    static void add(Suite suite) {
        suite.test(
                "javac: files are compiled, and a body edit compiles one",
                () -> {
                    Project project =
                            of(
                                    "p/A.java",
                                    "package p; class A { class In { } static int v() { return 1; }"
                                            + " }",
                                    "p/B.java",
                                    "package p; class B { int w() { return A.v(); } }");
                    equal(List.of("p/A", "p/A$In"), project.classNames("p/A.java"));
                    project.put(
                            "p/A.java",
                            "package p; class A { class In { } static int v() { return 2; } }");
                    equal(List.of("p/A.java"), project.recompiled());
                    equal(2, project.call("p/A.java", "p/A", "v"));
                });
        suite.test(
                "javac: whoever names a changed class is compiled",
                () -> {
                    Project project =
                            of(
                                    "A.java",
                                    "class A { static final int X = 1; }",
                                    "B.java",
                                    "class B { static int v() { return A.X; } }",
                                    "C.java",
                                    "class C { }");
                    project.put("A.java", "class A { static final int X = 2; }");
                    equal(List.of("A.java", "B.java"), project.recompiled());
                    equal(2, project.call("B.java", "B", "v"));
                });
        suite.test(
                "javac: no classes are made of a broken file, and the others go on with its last"
                        + " ones",
                () -> {
                    Project project =
                            of(
                                    "A.java",
                                    "class A { static int v() { return 1; } }",
                                    "B.java",
                                    "class B { static int w() { return A.v(); } }");
                    project.edit(
                            "m",
                            new Request.Replace(
                                    new Request.FileText(
                                            "A.java",
                                            "class A { static int v() { return missing; } }")),
                            new Request.Replace(
                                    new Request.FileText(
                                            "B.java",
                                            "class B { static int w() { return A.v() + 1; } }")));
                    Compiled broken = project.compiled("A.java");
                    equal(Compiled.Status.WITHHELD, broken.status());
                    holds(
                            broken.problems().get(0).message().contains("missing"),
                            broken.problems());
                    equal(2, project.call("B.java", "B", "w"));
                    project.put("A.java", "class A { static int v() { return 5; } }");
                    equal(List.of(), project.errors());
                    equal(6, project.call("B.java", "B", "w"));
                });
        suite.test(
                "javac: two modules, and a removed file",
                () -> {
                    Project project = new Project(new JavacBackend());
                    project.configure(
                            Project.dependingOn(
                                    Project.module(
                                            "app",
                                            11,
                                            "app/B.java",
                                            "class B { static Object f() { return A.one(); } }"),
                                    "lib"),
                            Project.module(
                                    "lib",
                                    8,
                                    "lib/A.java",
                                    "public class A { public static int one() { return 1; } }"));
                    equal(List.of(), project.errors());
                    project.edit("lib", new Request.Remove("lib/A.java"));
                    equal(Compiled.Status.WITHHELD, project.compiled("app/B.java").status());
                });
    }
}
