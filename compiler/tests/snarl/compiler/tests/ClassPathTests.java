package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;
import static snarl.compiler.tests.Suite.holds;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Answer;
import snarl.compiler.wire.Request;

import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Classes from outside: jars, directories that a build writes, and what happens when they change.
 */
final class ClassPathTests {
    private static final String USER = "class U { Object f() { return lib.L.one(); } }";

    private ClassPathTests() {}

    static void add(Suite suite) {
        suite.test(
                "classes are found in directories and jars",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        scratch.write("out/lib/L.class", library("int"));
                        String jar = scratch.write("lib.jar", jar("lib/L.class", library("int")));
                        for (String entry : List.of(scratch.root.resolve("out").toString(), jar)) {
                            Project project = new Project(new EcjBackend());
                            project.configure(
                                    Project.withClassPath(
                                            Project.module("m", 17, "U.java", USER), entry));
                            equal(List.of(), project.errors());
                        }
                    }
                });
        suite.test(
                "a source counts before a class of the same name",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        scratch.write("out/lib/L.class", library("int"));
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                Project.withClassPath(
                                        Project.module(
                                                "m",
                                                17,
                                                "L.java",
                                                "package lib; public class L { }",
                                                "U.java",
                                                USER),
                                        scratch.root.resolve("out").toString()));
                        holds(project.compiled("U.java").errors(), "the source has no such method");
                        project.remove("L.java");
                        equal(List.of(), project.errors());
                    }
                });
        suite.test(
                "a changed class path entry compiles those who use what has changed",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String jar =
                                scratch.write(
                                        "lib.jar",
                                        jar(
                                                "lib/L.class",
                                                library("int"),
                                                "lib/Other.class",
                                                new byte[0]));
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                Project.withClassPath(
                                        Project.module(
                                                "m",
                                                17,
                                                "U.java",
                                                USER,
                                                "V.java",
                                                "class V { }",
                                                "W.java",
                                                "class W { lib.New n; }"),
                                        jar));
                        scratch.write("lib.jar", jar("lib/L.class", library("long")));
                        project.edit("m", new Request.ClassPathChanged(jar));
                        equal(List.of("U.java"), project.recompiled());
                        scratch.write(
                                "lib.jar",
                                jar(
                                        "lib/L.class",
                                        library("long"),
                                        "lib/New.class",
                                        type("package lib; public class New { }", "lib/New")));
                        project.edit("m", new Request.ClassPathChanged(jar));
                        equal(List.of("W.java"), project.recompiled());
                        equal(List.of(), project.errors());
                        project.edit("m", new Request.ClassPathChanged(jar));
                        equal(List.of(), project.recompiled());
                    }
                });
        suite.test(
                "an output directory that is deleted and written again is followed",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        scratch.write("out/lib/L.class", library("int"));
                        String out = scratch.root.resolve("out").toString();
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                Project.withClassPath(
                                        Project.module("m", 17, "U.java", USER), out));
                        scratch.delete("out");
                        // Nobody has said that the directory is gone: what was read is remembered.
                        project.put("U.java", USER + " ");
                        equal(List.of(), project.errors());
                        Answer answer = project.edit("m", new Request.ClassPathChanged(out));
                        equal(1, project.errors().size());
                        holds(
                                answer.notes().stream().anyMatch(note -> note.contains(out)),
                                answer.notes());
                        scratch.write("out/lib/L.class", library("int"));
                        project.edit("m", new Request.ClassPathChanged(out));
                        equal(List.of(), project.errors());
                    }
                });
        suite.test(
                "a directory that goes away before its classes are read is an error of those who"
                        + " need it",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        scratch.write("out/lib/L.class", library("int"));
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                Project.withClassPath(
                                        Project.module("m", 17, "V.java", "class V { }"),
                                        scratch.root.resolve("out").toString()));
                        scratch.delete("out");
                        project.put("U.java", USER);
                        equal(1, project.errors().size());
                    }
                });
        suite.test(
                "a broken jar and a class file that is none are survived",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        String broken = scratch.write("broken.jar", new byte[] {1, 2, 3});
                        String jar =
                                scratch.write(
                                        "lib.jar",
                                        jar("lib/L.class", new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9}));
                        Project project = new Project(new EcjBackend());
                        Answer answer =
                                project.configure(
                                        Project.withClassPath(
                                                Project.module("m", 17, "U.java", USER),
                                                broken,
                                                jar));
                        equal(1, project.errors().size());
                        holds(
                                answer.notes().stream()
                                        .anyMatch(note -> note.contains("broken.jar")),
                                answer.notes());
                    }
                });
    }

    private static byte[] library(String result) {
        return type(
                "package lib; public class L { public static " + result + " one() { return 1; } }",
                "lib/L");
    }

    private static byte[] type(String text, String name) {
        return Project.of("T.java", text).output("T.java", name).bytes();
    }

    private static byte[] jar(Object... entries) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (int i = 0; i < entries.length; i += 2) {
                zip.putNextEntry(new ZipEntry((String) entries[i]));
                zip.write((byte[]) entries[i + 1]);
                zip.closeEntry();
            }
        }
        return bytes.toByteArray();
    }
}
