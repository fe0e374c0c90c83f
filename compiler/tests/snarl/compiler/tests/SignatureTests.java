package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;

import snarl.compiler.shape.Difference;
import snarl.compiler.shape.Signature;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What counts as a change that others can see: null is "more than members". */
final class SignatureTests {
    private SignatureTests() {}

    static void add(Suite suite) {
        same(
                suite,
                "a body",
                "class A { int a() { return 1; } }",
                "class A { int a() { return 2; } }");
        same(
                suite,
                "a lambda and a local class",
                "class A { void a() { } }",
                "class A { void a() { Runnable r = () -> { }; class L { } new Object() { }; } }");
        same(
                suite,
                "synchronized, native and strictfp",
                "class A { synchronized void a() { } void b() { } }",
                "class A { void a() { } native void b(); }");
        same(
                suite,
                "a static initialiser",
                "class A { static int x; }",
                "class A { static int x; static { x = 2; } }");
        same(
                suite,
                "an annotation of no meaning to compilers",
                "class A { }",
                "@SuppressWarnings(\"x\") class A { }");
        differs(suite, "a method", null, "class A { }", "class A { void a() { } }");
        differs(suite, "a constructor", null, "class A { }", "class A { private A() { } }");
        differs(
                suite,
                "an exception",
                null,
                "class A { void a() { } }",
                "class A { void a() throws Exception { } }");
        differs(
                suite,
                "type parameters",
                null,
                "class A { <T> T a() { return null; } }",
                "class A { <T extends Object & Runnable> T a() { return null; } }");
        differs(suite, "a member type", null, "class A { }", "class A { private class B { } }");
        differs(
                suite,
                "a supertype",
                null,
                "class A { }",
                "class A implements java.io.Serializable { }");
        differs(
                suite,
                "the default of an annotation",
                null,
                "@interface A { int a(); }",
                "@interface A { int a() default 1; }");
        differs(suite, "a record component", null, "record A(int x) { }", "record A(long x) { }");
        differs(suite, "an enum constant", null, "enum A { X }", "enum A { X, Y }");
        differs(
                suite,
                "a functional interface",
                null,
                "interface A { void a(); }",
                "@FunctionalInterface interface A { void a(); }");
        differs(suite, "a field", Set.of("x"), "class A { }", "class A { public int x; }");
        differs(
                suite,
                "a constant",
                Set.of("X"),
                "class A { static final int X = 1; }",
                "class A { static final int X = 2; }");
        differs(
                suite,
                "a private method",
                Set.of("a", "b"),
                "class A { private void a() { } }",
                "class A { private int a() { return 1; } private void b() { } }");
    }

    private static void same(Suite suite, String what, String before, String after) {
        differs(suite, what + " is nobody's business:", Set.of(), before, after);
    }

    private static void differs(
            Suite suite, String what, Set<String> names, String before, String after) {
        suite.test(
                "signature: " + what + " changes " + (names == null ? "it" : names),
                () -> {
                    Difference found = Signature.between(signature(before), signature(after));
                    equal(names == null, found.whole());
                    if (names != null) equal(new TreeSet<>(names), found.members());
                });
    }

    private static Signature signature(String text) {
        Project project = Project.of("A.java", text);
        equal(List.of(), project.errors());
        return Signature.of(project.output("A.java", "A").bytes());
    }
}
