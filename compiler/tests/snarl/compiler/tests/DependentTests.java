package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;
import static snarl.compiler.tests.Suite.holds;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Answer;
import snarl.compiler.wire.Request;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Which files are compiled when another one changes. */
final class DependentTests {
    private DependentTests() {}

    static void add(Suite suite) {
        suite.test(
                "a change of a body compiles exactly one file",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { int one() { return 1; } }",
                                    "B.java",
                                    "class B { int two(A a) { return a.one(); } }");
                    Answer answer =
                            project.put("A.java", "class A { int one() { int x = 5; return x; } }");
                    equal(List.of("A.java"), project.recompiled());
                    equal(1, answer.timing().files());
                    holds(!answer.modules().get(0).files().get(0).dependent(), "it was edited");
                });
        suite.test(
                "a comment changes nothing but lines, and equal text changes nothing",
                () -> {
                    Project project =
                            Project.of("A.java", "class A { }", "B.java", "class B { A a; }");
                    Answer answer = project.put("A.java", "class A { }");
                    equal(List.of(), project.recompiled());
                    equal(0, answer.timing().rounds());
                    project.put("A.java", "class A { } // here");
                    equal(List.of("A.java"), project.recompiled());
                });
        suite.test(
                "a changed signature compiles those who refer to it, and they are told as"
                        + " dependents",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { int one() { return 1; } }",
                                    "B.java",
                                    "class B { Object two(A a) { return a.one(); } }",
                                    "C.java",
                                    "class C { }");
                    Answer answer = project.put("A.java", "class A { long one() { return 1; } }");
                    equal(List.of("A.java", "B.java"), project.recompiled());
                    holds(answer.modules().get(0).files().get(1).dependent(), "B was not edited");
                });
        suite.test(
                "a constant is followed through other constants",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { static final int X = 1; }",
                                    "B.java",
                                    "class B { static final int Y = A.X + 1; }",
                                    "C.java",
                                    "class C { static int z() { return B.Y + 1; } }",
                                    "D.java",
                                    "class D { A a; B b; }");
                    project.put("A.java", "class A { static final int X = 5; }");
                    equal(List.of("A.java", "B.java", "C.java"), project.recompiled());
                    equal(7, project.call("C.java", "C", "z"));
                });
        suite.test(
                "a better overload is found",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { static int f(Object o) { return 1; } }",
                                    "B.java",
                                    "class B { static int g() { return A.f(\"\"); } }");
                    equal(1, project.call("B.java", "B", "g"));
                    project.put(
                            "A.java",
                            "class A { static int f(Object o) { return 1; } static int f(String s)"
                                    + " { return 2; } }");
                    equal(2, project.call("B.java", "B", "g"));
                });
        suite.test(
                "an inherited member is followed through the class between",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { static int f(Object o) { return 1; } }",
                                    "B.java",
                                    "class B extends A { }",
                                    "C.java",
                                    "class C { static int g() { return B.f(\"\"); } }");
                    project.put(
                            "A.java",
                            "class A { static int f(Object o) { return 1; } static int f(String s)"
                                    + " { return 2; } }");
                    equal(2, project.call("C.java", "C", "g"));
                });
        suite.test(
                "a new default method that clashes with another is an error of the class with both",
                () -> {
                    Project project =
                            Project.of(
                                    "I.java",
                                    "interface I { default void a() { } }",
                                    "J.java",
                                    "interface J { }",
                                    "C.java",
                                    "class C implements I, J { }");
                    equal(List.of(), project.errors());
                    project.put("J.java", "interface J { default void a() { } }");
                    holds(
                            project.errors().stream().anyMatch(error -> error.startsWith("C.java")),
                            project.errors());
                    project.put("J.java", "interface J { }");
                    equal(List.of(), project.errors());
                });
        suite.test(
                "a new abstract method breaks the lambdas and classes that do not have it",
                () -> {
                    Project project =
                            Project.of(
                                    "I.java",
                                    "interface I { void a(); }",
                                    "C.java",
                                    "class C { I i = () -> { }; }",
                                    "D.java",
                                    "class D implements I { public void a() { } }");
                    project.put("I.java", "interface I { void a(); void b(); }");
                    equal(List.of("C.java", "D.java", "I.java"), project.recompiled());
                    equal(2, project.errors().size());
                });
        suite.test(
                "a private member concerns only those who write its name",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { }",
                                    "B.java",
                                    "class B { A a; }",
                                    "C.java",
                                    "class C extends A { int count; int f(A a) { return this.count;"
                                            + " } }");
                    project.put("A.java", "class A { private int count; private void help() { } }");
                    equal(List.of("A.java", "C.java"), project.recompiled());
                });
        suite.test(
                "an enum constant concerns every switch over the enum",
                () -> {
                    Project project =
                            Project.of(
                                    "E.java",
                                    "enum E { A, B }",
                                    "S.java",
                                    "class S { int f(E e) { switch (e) { case B: return 1; default:"
                                            + " return 0; } } }");
                    project.put("E.java", "enum E { NEW, A, B }");
                    equal(List.of("E.java", "S.java"), project.recompiled());
                });
        suite.test(
                "a new permitted subclass breaks switches that were complete",
                () -> {
                    Project project = new Project(new EcjBackend());
                    project.configure(
                            Project.module(
                                    "m",
                                    21,
                                    "S.java",
                                    "sealed interface S permits A, B { }",
                                    "A.java",
                                    "record A(int x) implements S { }",
                                    "B.java",
                                    "record B(int y) implements S { }",
                                    "U.java",
                                    "class U { int f(S s) { return switch (s) { case A a -> a.x();"
                                            + " case B(int y) -> y; }; } }"));
                    equal(List.of(), project.errors());
                    project.edit(
                            "m",
                            new Request.Replace(
                                    new Request.FileText(
                                            "S.java", "sealed interface S permits A, B, C { }")),
                            new Request.Replace(
                                    new Request.FileText("C.java", "record C() implements S { }")));
                    holds(
                            project.errors().stream().anyMatch(error -> error.startsWith("U.java")),
                            project.errors());
                });
        suite.test(
                "where an annotation may stand is seen by those who use it",
                () -> {
                    Project project =
                            Project.of("N.java", "@interface N { }", "A.java", "@N class A { }");
                    project.put(
                            "N.java",
                            "import java.lang.annotation.*; @Target(ElementType.METHOD) @interface"
                                    + " N { }");
                    holds(
                            project.errors().stream().anyMatch(error -> error.startsWith("A.java")),
                            project.errors());
                });
        suite.test(
                "a removed file breaks those who refer to it, and mends when it comes back",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { }",
                                    "B.java",
                                    "class B { A a; int one() { return 1; } }");
                    project.remove("A.java");
                    equal(List.of("B.java"), project.recompiled());
                    equal(1, project.errors().size());
                    equal(List.of(), project.classNames("A.java"));
                    project.put("A.java", "class A { }");
                    equal(List.of("A.java", "B.java"), project.recompiled());
                    equal(List.of(), project.errors());
                });
        suite.test(
                "a renamed type is missed under its old name and found under its new one",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { }",
                                    "B.java",
                                    "class B { A a; }",
                                    "C.java",
                                    "class C { New n; }");
                    equal(1, project.errors().size());
                    project.put("A.java", "class New { }");
                    equal(List.of("A.java", "B.java", "C.java"), project.recompiled());
                    equal(List.of("B.java:1: A cannot be resolved to a type"), project.errors());
                });
        suite.test(
                "a type may move to another file",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { } class T { static int v() { return 1; } }",
                                    "B.java",
                                    "class B { }",
                                    "C.java",
                                    "class C { static int f() { return T.v(); } }");
                    project.edit(
                            "m",
                            new Request.Replace(new Request.FileText("A.java", "class A { }")),
                            new Request.Replace(
                                    new Request.FileText(
                                            "B.java",
                                            "class B { } class T { static int v() { return 1; }"
                                                    + " }")));
                    equal(List.of(), project.errors());
                    equal(List.of("B", "T"), project.classNames("B.java"));
                    equal(List.of("A"), project.classNames("A.java"));
                    equal(1, project.call("C.java", "C", "f"));
                });
        suite.test(
                "a type that two files declare is an error of the second, until the first gives it"
                        + " up",
                () -> {
                    Project project =
                            Project.of("A.java", "class T { }", "C.java", "class C { T t; }");
                    project.put("B.java", "class T { int x; }");
                    holds(
                            project.errors().stream()
                                    .anyMatch(
                                            error ->
                                                    error.startsWith("B.java")
                                                            && error.contains("already defined")),
                            project.errors());
                    equal(List.of("T"), project.classNames("A.java"));
                    equal(List.of(), project.classNames("B.java"));
                    project.put("A.java", "class Other { }");
                    equal(List.of(), project.errors());
                    equal(List.of("T"), project.classNames("B.java"));
                });
        suite.test(
                "a new type in the package hides one that was imported on demand",
                () -> {
                    Project project =
                            Project.of(
                                    "p/A.java",
                                    "package p; import java.util.*; class A { Object f() { return"
                                            + " new ArrayList(); } }");
                    project.put("p/ArrayList.java", "package p; class ArrayList { }");
                    equal(List.of("p/A.java", "p/ArrayList.java"), project.recompiled());
                });
        suite.test(
                "lambdas and anonymous classes are named after their place, whoever looks at them"
                        + " first",
                () -> {
                    String constants =
                            "interface C { Runnable ONE = () -> { }; Runnable TWO = () -> { int x ="
                                    + " 2; }; Object THREE = new Object() { }; Object FOUR = new"
                                    + " Object() { int x; Runnable r = () -> { }; }; }";
                    Project alone = Project.of("C.java", constants);
                    Project used =
                            Project.of(
                                    "A.java",
                                    "class A { Runnable r = C.TWO; Object o = C.FOUR; }",
                                    "C.java",
                                    constants);
                    for (String name : alone.classNames("C.java")) {
                        holds(
                                Arrays.equals(
                                        alone.output("C.java", name).bytes(),
                                        used.output("C.java", name).bytes()),
                                name + " differs");
                    }
                });
        suite.test(
                "a file compiled alone has the classes it has in company",
                () -> {
                    String[] files = {
                        "A.java",
                        "public class A extends Hidden<String> { }",
                        "B.java",
                        "class B { Outer.In f; Object o = Outer.In.Z; Runnable r = Outer.TWO; }",
                        "Hidden.java",
                        "abstract class Hidden<T> { public void b(Outer.In i) { } public Outer.J"
                            + " d() { return null; } @Deprecated public void a() { } public T c(T"
                            + " t) { return t; } public void a(int x) { } }",
                        "Secret.java",
                        "abstract class Secret { public Outer.J d() { return null; } }",
                        "Told.java",
                        "public class Told extends Secret { }",
                        "Outer.java",
                        "class Outer<T> { enum In { X { }, Y { }, Z { } } interface J { } In f; J"
                            + " j; static final Runnable ONE = () -> { }, TWO = () -> { int x; };"
                            + " }",
                    };
                    Project project = Project.of(files);
                    equal(List.of(), project.errors());
                    Map<String, byte[]> together = new TreeMap<>();
                    project.classes().forEach((name, output) -> together.put(name, output.bytes()));
                    for (int i = 0; i < files.length; i += 2) {
                        project.put(files[i], files[i + 1] + " ");
                        equal(List.of(files[i]), project.recompiled());
                    }
                    project.classes()
                            .forEach(
                                    (name, output) ->
                                            holds(
                                                    Arrays.equals(
                                                            output.bytes(), together.get(name)),
                                                    name));
                });
        suite.test(
                "two modules see each other's fresh classes",
                () -> {
                    Project project = new Project(new EcjBackend());
                    project.configure(
                            Project.dependingOn(
                                    Project.module(
                                            "app",
                                            17,
                                            "app/B.java",
                                            "class B { Object f() { return new A().one(); } }"),
                                    "lib"),
                            Project.module(
                                    "lib",
                                    17,
                                    "lib/A.java",
                                    "public class A { public int one() { return 1; } }"));
                    equal(List.of(), project.errors());
                    project.edit(
                            "lib",
                            new Request.Replace(
                                    new Request.FileText(
                                            "lib/A.java",
                                            "public class A { public long one() { return 1; } }")));
                    equal(List.of("app/B.java", "lib/A.java"), project.recompiled());
                    project.edit(
                            "lib",
                            new Request.Replace(
                                    new Request.FileText(
                                            "lib/A.java",
                                            "public class A { public long one() { return 2; } }")));
                    equal(List.of("lib/A.java"), project.recompiled());
                    project.edit("lib", new Request.DropModule());
                    holds(
                            project.errors().stream()
                                    .anyMatch(error -> error.startsWith("app/B.java")),
                            project.errors());
                });
    }
}
