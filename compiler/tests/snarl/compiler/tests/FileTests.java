package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;
import static snarl.compiler.tests.Suite.holds;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Answer;
import snarl.compiler.state.Compiled;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.FileText;
import snarl.compiler.wire.Request.ModuleConfig;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** Where texts come from: disks, buffers, encodings, odd names. */
final class FileTests {
    private FileTests() {}

    private static ModuleConfig rooted(String encoding, Scratch scratch) {
        return new ModuleConfig(
                "m",
                "",
                0,
                17,
                false,
                encoding,
                false,
                List.of(),
                List.of(),
                List.of(scratch.root.toString()),
                List.of());
    }

    static void add(Suite suite) {
        suite.test(
                "an unsaved buffer counts instead of the file, until the file is to be read again",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String file =
                                scratch.write(
                                        "p/A.java",
                                        "package p; class A { static int v() { return 1; } }");
                        Project project = new Project(new EcjBackend());
                        project.configure(rooted("", scratch));
                        equal(1, project.call(file, "p/A", "v"));
                        project.put(file, "package p; class A { static int v() { return 2; } }");
                        equal(2, project.call(file, "p/A", "v"));
                        project.edit("m", new Request.Replace(new FileText(file, null)));
                        equal(1, project.call(file, "p/A", "v"));
                    }
                });
        suite.test(
                "sources are read in their encoding",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String file =
                                scratch.write(
                                        "A.java",
                                        "class A { static String v() { return \"äö\"; } }",
                                        StandardCharsets.ISO_8859_1);
                        Project project = new Project(new EcjBackend());
                        project.configure(rooted("ISO-8859-1", scratch));
                        equal("äö", project.call(file, "A", "v"));
                    }
                });
        suite.test(
                "a file that is not in its encoding is compiled all the same, with a note",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String file =
                                scratch.write(
                                        "A.java",
                                        "class A { /* ä */ static int v() { return 1; } }",
                                        StandardCharsets.ISO_8859_1);
                        Project project = new Project(new EcjBackend());
                        Answer answer = project.configure(rooted("UTF-8", scratch));
                        equal(1, project.call(file, "A", "v"));
                        holds(
                                answer.notes().stream()
                                        .anyMatch(note -> note.contains("is not UTF-8")),
                                answer.notes());
                    }
                });
        suite.test(
                "a byte order mark is no part of the text",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String file =
                                scratch.write(
                                        "A.java", "\uFEFFclass A { int v() { return missing; } }");
                        Project project = new Project(new EcjBackend());
                        project.configure(rooted("ISO-8859-1", scratch));
                        equal(List.of("A"), project.classNames(file));
                        equal(28, project.compiled(file).problems().get(0).column());
                        project.put(file, "\uFEFFclass A { }");
                        equal(List.of("A"), project.classNames(file));
                        equal(List.of(), project.errors());
                    }
                });
        suite.test(
                "an encoding nobody knows is refused",
                () -> {
                    Project project = new Project(new EcjBackend());
                    try {
                        project.workspace.apply(
                                new Request.Configure(
                                        1,
                                        List.of(
                                                new ModuleConfig(
                                                        "m", "", 0, 17, false, "no-such", false,
                                                        List.of(), List.of(), List.of(),
                                                        List.of()))));
                        throw new AssertionError("not refused");
                    } catch (snarl.compiler.state.Refused refused) {
                        holds(refused.getMessage().contains("no-such"), refused);
                    }
                });
        suite.test(
                "a file that has gone has failed, and the others are compiled against its last"
                        + " classes",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String a = scratch.write("p/A.java", "package p; public class A { }");
                        String b = scratch.write("q/B.java", "package q; class B { p.A a; }");
                        Project project = new Project(new EcjBackend());
                        project.configure(rooted("", scratch));
                        scratch.delete("p");
                        project.edit(
                                "m",
                                new Request.Replace(new FileText(a, null)),
                                new Request.Replace(
                                        new FileText(b, "package q; class B { p.A a, b; }")));
                        equal(Compiled.Status.FAILED, project.compiled(a).status());
                        equal(Compiled.Status.COMPILED, project.compiled(b).status());
                        holds(!project.compiled(b).errors(), project.errors());
                        project.edit("m", new Request.Remove(a));
                        holds(project.compiled(b).errors(), "now it has gone for good");
                    }
                });
        suite.test(
                "a package that does not match the directory is no error",
                () -> {
                    Project project =
                            Project.of(
                                    "somewhere/A.java",
                                    "package else.where; public class A { }"
                                            .replace("else", "other"),
                                    "B.java",
                                    "public class NotB { other.where.A a; }");
                    equal(List.of(), project.errors());
                    equal(List.of("other/where/A"), project.classNames("somewhere/A.java"));
                    equal(List.of("NotB"), project.classNames("B.java"));
                });
        suite.test(
                "a package comes and goes with its files",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "package p.q; public class A { }",
                                    "B.java",
                                    "package r; import p.q.*; class B { }");
                    equal(List.of(), project.errors());
                    project.remove("A.java");
                    equal(List.of("B.java:1: The import p cannot be resolved"), project.errors());
                    project.put("C.java", "package p.q; class C { }");
                    equal(List.of(), project.errors());
                });
        suite.test(
                "a module declaration is ignored",
                () -> {
                    Project project =
                            Project.of(
                                    "module-info.java",
                                    "module m { requires no.such.module; exports nothing; }",
                                    "p/A.java",
                                    "package p; class A { java.sql.Connection c; }");
                    equal(List.of(), project.errors());
                    equal(Compiled.Status.IGNORED, project.compiled("module-info.java").status());
                    equal(List.of("p/A"), project.classNames("p/A.java"));
                });
        suite.test(
                "a package description has a class if it has annotations",
                () -> {
                    Project project =
                            Project.of(
                                    "p/package-info.java",
                                    "@Deprecated package p;",
                                    "p/A.java",
                                    "package p; class A { }");
                    equal(List.of(), project.errors());
                    equal(List.of("p/package-info"), project.classNames("p/package-info.java"));
                });
        suite.test(
                "a file of 20,000 lines is compiled, and an edit of it too",
                () -> {
                    StringBuilder text = new StringBuilder("class Huge {\n");
                    for (int i = 0; i < 5000; i++)
                        text.append(
                                "    int m"
                                        + i
                                        + "(int a) {\n        int b = a * "
                                        + i
                                        + ";\n        return b;\n    }\n");
                    Project project = Project.of("Huge.java", text + "}\n");
                    equal(List.of(), project.errors());
                    Answer answer =
                            project.put("Huge.java", text + "    int more() { return 1; }\n}\n");
                    holds(
                            answer.timing().totalMicros() < 5_000_000,
                            "took " + answer.timing().totalMicros());
                });
        suite.test(
                "classes are told sorted by name, and known ones without their bytes",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java", "class B { class C { } void v() { } } class A { }");
                    equal(List.of("A", "B", "B$C"), project.classNames("A.java"));
                    Answer answer =
                            project.put(
                                    "A.java",
                                    "class B { class C { } void v() { int x = 1; } } class A { }");
                    List<Boolean> known =
                            answer.modules().get(0).files().get(0).classes().stream()
                                    .map(Answer.ClassFile::known)
                                    .toList();
                    equal(List.of(true, false, true), known);
                });
        suite.test(
                "a module configured again compiles only what has changed",
                () -> {
                    Project project =
                            Project.of(
                                    "A.java",
                                    "class A { }",
                                    "B.java",
                                    "class B { }",
                                    "C.java",
                                    "class C { }");
                    project.configure(
                            Project.module(
                                    "m",
                                    17,
                                    "A.java",
                                    "class A { }",
                                    "B.java",
                                    "class B { int x; }"));
                    equal(List.of("B.java"), project.recompiled());
                    equal(List.of(), project.classNames("C.java"));
                    project.configure(
                            Project.module(
                                    "m",
                                    11,
                                    "A.java",
                                    "class A { }",
                                    "B.java",
                                    "class B { int x; }"));
                    equal(List.of("A.java", "B.java"), project.recompiled());
                });
    }
}
