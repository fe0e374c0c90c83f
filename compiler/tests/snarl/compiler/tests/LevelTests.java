package snarl.compiler.tests;

import static snarl.compiler.tests.Suite.equal;
import static snarl.compiler.tests.Suite.holds;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Refused;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.ModuleConfig;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Language levels and the types of the JDK that go with them. */
final class LevelTests {
    private static final String RECORDS =
            "sealed interface S permits R { } record R(int x) implements S { }";
    private static final String PATTERNS =
            "class P { int f(Object o) { return switch (o) { case String s -> s.length(); default"
                    + " -> 0; }; } }";

    private LevelTests() {}

    static void add(Suite suite) {
        suite.test(
                "level 8 makes class files of Java 8 and knows no records",
                () -> {
                    Project project =
                            at(
                                    8,
                                    0,
                                    false,
                                    "A.java",
                                    "class A { Runnable r = () -> { }; private int x; class B { int"
                                            + " y() { return x; } } }",
                                    "R.java",
                                    RECORDS);
                    equal(52, major(project, "A.java", "A"));
                    holds(
                            project.compiled("R.java").errors()
                                    && !project.compiled("A.java").errors(),
                            project.errors());
                });
        suite.test(
                "level 17 knows records and sealed types",
                () -> {
                    Project project = at(17, 0, false, "R.java", RECORDS);
                    equal(List.of(), project.errors());
                    equal(61, major(project, "R.java", "R"));
                });
        suite.test(
                "level 21 knows patterns, level 17 does not",
                () -> {
                    equal(List.of(), at(21, 0, false, "P.java", PATTERNS).errors());
                    holds(
                            at(17, 0, false, "P.java", PATTERNS).compiled("P.java").errors(),
                            "no patterns in 17");
                });
        suite.test(
                "the newest level compiles with and without previews",
                () -> {
                    int newest = new EcjBackend().newestLevel();
                    equal(List.of(), at(newest, 0, false, "P.java", PATTERNS).errors());
                    equal(List.of(), at(newest, 0, true, "P.java", PATTERNS).errors());
                });
        suite.test(
                "previews of an older level are taken as the language they have become",
                () -> {
                    Project project = at(17, 0, true, "P.java", PATTERNS);
                    equal(List.of(), project.errors());
                    equal(61, major(project, "P.java", "P"));
                });
        suite.test(
                "a release shows only the API it had",
                () -> {
                    String text = "class A { boolean f(String s) { return s.isBlank(); } }";
                    equal(List.of(), at(11, 11, false, "A.java", text).errors());
                    equal(1, at(8, 8, false, "A.java", text).errors().size());
                    equal(List.of(), at(8, 0, false, "A.java", text).errors());
                });
        suite.test(
                "the types of a Java 8 home come from its rt.jar",
                () -> {
                    try (Scratch scratch = new Scratch()) {
                        scratch.write(
                                "jre/lib/rt.jar",
                                archiveOf(
                                        "java/lang",
                                        "java/lang/annotation",
                                        "java/io",
                                        "java/util"));
                        Project project = new Project(new EcjBackend());
                        project.configure(
                                new ModuleConfig(
                                        "m",
                                        scratch.root.toString(),
                                        0,
                                        8,
                                        false,
                                        "",
                                        false,
                                        List.of(),
                                        List.of(),
                                        List.of(),
                                        Project.texts(
                                                "A.java",
                                                "class A { java.util.List<String> l; }",
                                                "B.java",
                                                "class B { java.sql.Connection c; }")));
                        equal(
                                List.of("B.java:1: java.sql cannot be resolved to a type"),
                                project.errors());
                    }
                });
        suite.test(
                "a level that no compiler knows is refused",
                () -> {
                    try {
                        new Project(new EcjBackend())
                                .workspace.apply(
                                        new Request.Configure(1, List.of(Project.module("m", 99))));
                        throw new AssertionError("not refused");
                    } catch (Refused refused) {
                        holds(refused.getMessage().contains("99"), refused);
                    }
                });
        suite.test(
                "a Java home that is not there is noted, and its files have results",
                () -> {
                    Project project = new Project(new EcjBackend());
                    var answer =
                            project.configure(
                                    new ModuleConfig(
                                            "m",
                                            "/no/such/java",
                                            0,
                                            17,
                                            false,
                                            "",
                                            false,
                                            List.of(),
                                            List.of(),
                                            List.of(),
                                            Project.texts(
                                                    "A.java",
                                                    "class A { }",
                                                    "B.java",
                                                    "class B { }")));
                    holds(
                            answer.notes().stream()
                                    .anyMatch(note -> note.contains("/no/such/java")),
                            answer.notes());
                    holds(
                            project.compiled("A.java") != null
                                    && project.compiled("B.java") != null,
                            "no results");
                    holds(project.compiled("A.java").errors(), "there is no java.lang.Object");
                });
    }

    private static Project at(int level, int release, boolean preview, String... files) {
        Project project = new Project(new EcjBackend());
        project.configure(
                new ModuleConfig(
                        "m",
                        "",
                        release,
                        level,
                        preview,
                        "",
                        false,
                        List.of(),
                        List.of(),
                        List.of(),
                        Project.texts(files)));
        return project;
    }

    /** Some packages of the running JDK as a jar. */
    private static byte[] archiveOf(String... packages) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (String name : packages) {
                try (DirectoryStream<Path> files =
                        Files.newDirectoryStream(
                                Path.of(URI.create("jrt:/java.base/" + name)), "*.class")) {
                    for (Path file : files) {
                        zip.putNextEntry(new ZipEntry(name + "/" + file.getFileName()));
                        zip.write(Files.readAllBytes(file));
                    }
                }
            }
        }
        return bytes.toByteArray();
    }

    private static int major(Project project, String path, String className) {
        return project.output(path, className).bytes()[7];
    }
}
