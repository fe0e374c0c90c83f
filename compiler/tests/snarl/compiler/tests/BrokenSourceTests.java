package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;
import static snarl.compiler.tests.Suite.holds;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Problem;
import snarl.compiler.wire.Request.ModuleConfig;

import java.util.List;

/** What becomes of sources with errors. */
final class BrokenSourceTests {
    private BrokenSourceTests() {}

    static void add(Suite suite) {
        suite.test(
                "a broken method becomes a stub and the others keep their bodies",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { static int one() { return 1; } int two() { return"
                                            + " missing; } void three(int a) {} }");
                    equal(List.of("two()I"), project.stubs("A.java", "A"));
                    equal(1, project.call("A.java", "A", "one"));
                    Compiled compiled = project.compiled("A.java");
                    holds(
                            compiled.errors() && !compiled.syntaxErrors() && compiled.attributed(),
                            compiled);
                    holds(!project.output("A.java", "A").problemType(), "the type itself is fine");
                });
        suite.test(
                "a file without errors has no stubs, whatever its methods throw",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { void a() { throw new Error(\"Unresolved compilation"
                                            + " problem: no\"); } }");
                    equal(List.of(), project.stubs("A.java", "A"));
                    equal(List.of(), project.errors());
                });
        suite.test(
                "problems say where they are, from the first to behind the last character",
                () -> {
                    Project project =
                            Project.of("A.java", "class A {\n\tint a() { return missing; }\n}\n");
                    Problem problem = project.compiled("A.java").problems().get(0);
                    equal(
                            List.of(2, 19, 2, 26),
                            List.of(
                                    problem.line(),
                                    problem.column(),
                                    problem.endLine(),
                                    problem.endColumn()));
                    equal("missing cannot be resolved to a variable", problem.message());
                    equal(Problem.ERROR, problem.severity());
                });
        suite.test(
                "a missing brace leaves a class with stubs, and a syntax error is told",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { int one() { return 1; } void two() { if (true) { }\n"
                                            + " int three() { return 3; } }");
                    Compiled compiled = project.compiled("A.java");
                    holds(compiled.syntaxErrors(), compiled);
                    equal(List.of("A"), project.classNames("A.java"));
                    holds(
                            project.stubs("A.java", "A").contains("two()V"),
                            project.stubs("A.java", "A"));
                });
        suite.test(
                "a missing semicolon breaks only its method",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { static int one() { return 1; } void two() { int a ="
                                            + " 1 } }");
                    equal(List.of("two()V"), project.stubs("A.java", "A"));
                    equal(1, project.call("A.java", "A", "one"));
                });
        suite.test(
                "an error in an initialiser makes the whole type a problem type",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { int field = missing; int one() { return 1; } class"
                                        + " Inner { void in() {} } }  class Fine { void fine() {}"
                                        + " }");
                    holds(
                            project.output("A.java", "A").problemType(),
                            "the initialisers are in no method of the class");
                    holds(
                            project.output("A.java", "A$Inner").problemType(),
                            "its members go with it");
                    equal(List.of("<init>()V", "one()I"), project.stubs("A.java", "A"));
                    holds(
                            !project.output("A.java", "Fine").problemType(),
                            "the other type of the file is fine");
                    equal(List.of(), project.stubs("A.java", "Fine"));
                });
        suite.test(
                "an error in a static initialiser makes the whole type a problem type",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { static int count; static { count = missing; } int"
                                            + " one() { return 1; } }");
                    holds(project.output("A.java", "A").problemType(), project.compiled("A.java"));
                });
        suite.test(
                "a broken lambda makes a stub of the method around it",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { Runnable a() { return () -> { missing(); }; }"
                                            + " Runnable b() { return () -> { }; } }");
                    equal(List.of("a()Ljava/lang/Runnable;"), project.stubs("A.java", "A"));
                });
        suite.test(
                "an error in a local class breaks the method of that class only",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { Runnable a() { return new Runnable() { public void"
                                            + " run() { missing(); } void other() { } }; } }");
                    equal(List.of("run()V"), project.stubs("A.java", "A$1"));
                    equal(List.of(), project.stubs("A.java", "A"));
                });
        suite.test(
                "a method whose head cannot be understood is told as lost",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { void a(int x) { } void a(int y) { } void b() { } }");
                    equal(List.of("a"), project.output("A.java", "A").lost());
                });
        suite.test(
                "a missing import breaks only what uses it",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "import no.such.Thing; class A { int one() { return 1; } void"
                                            + " two() { Thing t = null; t.go(); } }");
                    equal(List.of("two()V"), project.stubs("A.java", "A"));
                });
        suite.test(
                "text that is no Java at all has problems and no classes",
                () -> {
                    Project project = Project.of("A.java", "%%% what is this {{{ 12 ;;");
                    holds(project.compiled("A.java").syntaxErrors(), project.compiled("A.java"));
                    equal(List.of(), project.classNames("A.java"));
                });
        suite.test(
                "an empty file is fine",
                () -> {
                    Project project = Project.of("A.java", "");
                    equal(List.of(), project.errors());
                    equal(List.of(), project.classNames("A.java"));
                });
        suite.test(
                "cyclic inheritance is an error of the types, and all files have a result",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A extends B { int a() { return 1; } }",
                                    "B.java",
                                    "class B extends A { }",
                                    "C.java",
                                    "class C { A a; }");
                    holds(
                            project.errors().stream().anyMatch(error -> error.contains("Cycle")),
                            project.errors());
                    equal(
                            List.of("A", "B", "C"),
                            List.of(
                                    project.classNames("A.java").get(0),
                                    project.classNames("B.java").get(0),
                                    project.classNames("C.java").get(0)));
                    project.put("B.java", "class B { }");
                    equal(List.of(), project.errors());
                });
        suite.test(
                "a file that breaks the compiler fails alone",
                () -> {
                    String deep = "int y = 1" + " + (y".repeat(9_000) + ")".repeat(9_000) + ";";
                    Project project = new Project(new EcjBackend());
                    Thread small =
                            new Thread(
                                    null,
                                    () ->
                                            project.configure(
                                                    Project.module(
                                                            "m",
                                                            17,
                                                            "A.java",
                                                            "class A { void a() { " + deep + " } }",
                                                            "B.java",
                                                            "class B { int one() { return 1; } }")),
                                    "small stack",
                                    400 << 10);
                    small.start();
                    small.join();
                    equal(List.of("B"), project.classNames("B.java"));
                    equal(Compiled.Status.FAILED, project.compiled("A.java").status());
                    project.put("A.java", "class A { B b; }");
                    equal(List.of(), project.errors());
                });
        suite.test(
                "with hold, a syntax error does not reach those who refer to the file",
                () -> {
                    ModuleConfig holding =
                            Project.holding(
                                    Project.module(
                                            "m",
                                            17,
                                            "A.java",
                                            "class A { int one() { return 1; } }",
                                            "B.java",
                                            "class B { int two(A a) { return a.one(); } }"));
                    Project project = new Project(new EcjBackend());
                    project.configure(holding);
                    project.put("A.java", "class A { int on");
                    equal(List.of("A.java"), project.recompiled());
                    project.put("A.java", "class A { long one() { return 1; } }");
                    equal(List.of("A.java", "B.java"), project.recompiled());
                    holds(
                            project.errors().stream().anyMatch(error -> error.startsWith("B.java")),
                            project.errors());
                });
    }
}
