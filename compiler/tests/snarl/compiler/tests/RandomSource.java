package snarl.compiler.tests;

import java.util.Random;

/**
 * A source file made of choices, each of which can be made anew: kind, supertypes, constants, heads
 * and bodies of methods, nested types, imports, package, damage. The files refer to each other at
 * random, rightly and wrongly.
 */
final class RandomSource {
    static final int FILES = 7;
    private static final int CHOICES = 12;
    private static final int DAMAGE = 11;
    private static final String[] PACKAGES = {"p", "p", "p", "p.q", "q"};

    private final int number;
    private final int[] choice = new int[CHOICES];

    RandomSource(int number, Random random) {
        this.number = number;
        for (int i = 0; i < CHOICES; i++) choice[i] = random.nextInt(1 << 20);
        choice[DAMAGE] = 0;
    }

    /** A class that refers to nothing. */
    RandomSource(int number) {
        this.number = number;
        choice[1] = 3 * 8; // no imports
    }

    /** Makes one choice anew, and answers how to undo it. */
    Runnable edit(Random random) {
        int which = random.nextInt(CHOICES);
        int before = choice[which];
        choice[which] = random.nextInt(1 << 20);
        return () -> choice[which] = before;
    }

    String path() {
        return "T" + number + ".java";
    }

    /** The directory it belongs into. */
    String place() {
        return pick(0, PACKAGES).replace('.', '/');
    }

    String text() {
        StringBuilder text = new StringBuilder();
        text.append("package ").append(pick(0, PACKAGES)).append(";\n");
        text.append(
                pick(
                        1,
                        "import p.*; import q.*; import p.q.*;",
                        "import p.*; import p.q.*; import static p.T" + other(1) + ".*;",
                        "import p.T" + other(1) + "; import q.*;",
                        ""));
        text.append('\n').append(type());
        text.append(
                pick(
                        10,
                        "",
                        "",
                        "",
                        "class Extra" + number + " { public int e; }",
                        "class Extra" + (number + 1) % 3 + " { int e2() { return 1; } }",
                        "class T" + other(10) + " { }"));
        return damaged(text.append('\n').toString());
    }

    private String type() {
        String name = "T" + number;
        String up = "T" + other(3);
        return switch (choice[2] % 8) {
            case 0, 1, 2, 3 ->
                    "public "
                            + pick(
                                    3,
                                    "class " + name,
                                    "class " + name,
                                    "class " + name + " extends " + up,
                                    "abstract class " + name + " implements " + up,
                                    "final class " + name + " extends " + up + ".In",
                                    "class " + name + "<X extends " + up + ">")
                            + " {\n"
                            + members(false)
                            + "}\n";
            case 4, 5 ->
                    "public interface "
                            + name
                            + pick(3, "", " extends " + up, "<X>")
                            + " {\n"
                            + members(true)
                            + "}\n";
            case 6 ->
                    "public enum "
                            + name
                            + pick(3, "", " implements " + up)
                            + " {\n A, "
                            + pick(4, "B", "B, C", "C, B { public int m() { return 5; } }")
                            + ";\n"
                            + members(false)
                            + "}\n";
            default ->
                    "public record "
                            + name
                            + "(int a, "
                            + pick(4, "String b", "T" + other(4) + " b")
                            + ") {\n"
                            + members(true)
                            + "}\n";
        };
    }

    private String members(boolean noInstanceFields) {
        StringBuilder text = new StringBuilder();
        text.append(" public static final ")
                .append(
                        pick(
                                5,
                                "int C = 1;",
                                "int C = 2;",
                                "String C = \"c\" + T" + other(5) + ".C;",
                                "int C = T" + other(5) + ".C + 1;",
                                "long C = T" + other(5) + ".m(null);"))
                .append('\n');
        if (!noInstanceFields)
            text.append(' ')
                    .append(
                            pick(
                                    6,
                                    "",
                                    "private int f;",
                                    "protected T" + other(6) + " f;",
                                    "public final int f = 7;",
                                    "T" + other(6) + ".In f = null;",
                                    "int f = nothing;"))
                    .append('\n');
        String result =
                pick(
                        7,
                        "int",
                        "int",
                        "long",
                        "T" + other(7),
                        "Missing",
                        "java.util.List<T" + other(7) + ">");
        text.append(
                pick(
                        8,
                        " public static " + result + " m(Object o)",
                        " public static " + result + " m(String o)",
                        " public static <Y extends T"
                                + other(8)
                                + "> "
                                + result
                                + " m(Y o) throws java.io.IOException",
                        " static " + result + " m(T" + other(8) + " o)"));
        text.append(" { ")
                .append(body())
                .append(" return ")
                .append(result.equals("int") || result.equals("long") ? "1" : "null")
                .append("; }\n");
        text.append(
                pick(
                        8,
                        "",
                        " private static int m(int x) { return x; }\n",
                        " public static int m(String s, int... more) { return more.length; }\n",
                        ""));
        text.append(' ')
                .append(
                        pick(
                                9,
                                "",
                                "public static class In { public int g = C; }",
                                "public static interface In { default int d() { return C; } }",
                                "public static enum In { ONE, TWO }",
                                "private static class In extends T" + other(9) + " { }",
                                "@FunctionalInterface public static interface In { int go(int x);"
                                        + " }",
                                "public static class In extends T" + other(9) + ".In { }"))
                .append('\n');
        return text.toString();
    }

    private String body() {
        String up = "T" + other(4);
        return switch (choice[4] % 10) {
            case 0 -> "int x = 1; x++;";
            case 1 -> "var x = " + up + ".C; System.out.println(x);";
            case 2 -> "Object x = " + up + ".m(\"\");";
            case 3 -> "Object x = new " + up + "();";
            case 4 -> up + " t = null; switch (t) { case B: break; default: }";
            case 5 ->
                    "java.util.function.IntSupplier s = () -> "
                            + up
                            + ".C + 1; Runnable r = () -> { "
                            + up
                            + ".m(null); };";
            case 6 -> up + ".In in = x -> x + 1; Runnable r = () -> { };";
            case 7 -> "Object x = new " + up + "() { int h = C; };";
            case 8 -> up + " t = null; Object y = t.f; synchronized (y) { y = t.a(); }";
            default -> "Object y = " + up + ".In.ONE; int z = new Extra" + number % 3 + "().e;";
        };
    }

    private String damaged(String text) {
        int kind = choice[DAMAGE] % 12;
        int at = choice[DAMAGE] / 12 % text.length();
        return switch (kind) {
            case 1 -> text.substring(0, at) + text.substring(at + 1);
            case 2 -> text.substring(0, at) + "{" + text.substring(at);
            case 3 -> text.substring(0, at) + ";" + text.substring(at);
            case 4 -> text.substring(0, at);
            default -> text;
        };
    }

    private String pick(int which, String... from) {
        return from[choice[which] / 8 % from.length];
    }

    /** The number of a file, mostly another one. */
    private int other(int which) {
        return choice[which] / 64 % FILES;
    }
}
