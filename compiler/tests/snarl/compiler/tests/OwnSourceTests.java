package snarl.compiler.tests;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.wire.Request.ModuleConfig;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Edits of real code, namely of this program's own: lines change places, go and come back, types of
 * members change. After each edit the classes must be those of a compile from nothing.
 * SNARL_SOURCES names other sources, SNARL_SEED and SNARL_EDITS other and more edits.
 */
final class OwnSourceTests {
    private OwnSourceTests() {}

    static void add(Suite suite) {
        suite.test(
                "edits of our own sources end where a compile from nothing does",
                () -> exact(random(), steps()));
        suite.test(
                "with hold, our own sources are exact again as soon as they are whole",
                () -> held(random(), 4 * steps()));
        suite.test(
                "edits of our own sources over their built classes reach all that come out"
                        + " differently",
                () -> overBuilt(random(), 2 * steps()));
    }

    private static void exact(Random random, int steps) throws IOException {
        Map<String, String> sound = read();
        Map<String, String> files = new TreeMap<>(sound);
        Project edited = project(files, false);
        for (int step = 0; step < steps; step++) {
            String path = any(files, random);
            String before = files.get(path);
            files.put(path, mutate(before, random));
            edited.put(path, files.get(path));
            compare("step " + step + " in " + path, edited, project(files, false));
            // Some damage stays, but not so much that its sources are no longer shown to others.
            if (random.nextBoolean()) restore(files, edited, Map.of(path, before));
            if (step % 10 == 9) restore(files, edited, sound);
        }
        compare("the end", edited, project(files, false));
    }

    private static void held(Random random, int steps) throws IOException {
        Map<String, String> sound = read();
        Map<String, String> files = new TreeMap<>(sound);
        Project edited = project(files, true);
        for (int step = 0; step < steps; step++) {
            String path = any(files, random);
            files.put(path, mutate(files.get(path), random));
            edited.put(path, files.get(path));
            if (step % 8 != 7) continue;
            restore(files, edited, sound);
            compare("step " + step, edited, project(files, true));
        }
    }

    private static void overBuilt(Random random, int steps) throws IOException {
        Map<String, String> sound = read();
        Map<String, List<ClassOutput>> built = project(sound, false).classesByPath();
        try (Scratch scratch = new Scratch()) {
            for (List<ClassOutput> classes : built.values()) {
                for (ClassOutput output : classes)
                    scratch.write("out/" + output.name() + ".class", output.bytes());
            }
            String out = scratch.root.resolve("out").toString();
            Project edited = project(Map.of(), false, System.getProperty("snarl.ecj"), out);
            Parent parent = new Parent(edited, sound, built);
            Map<String, String> files = new TreeMap<>(sound);
            for (int step = 0; step < steps; step++) {
                String path = any(files, random);
                files.put(path, mutate(sound.get(path), random));
                parent.put(Map.of(path, files.get(path)));
                Project fresh = project(files, false);
                List<String> different = new ArrayList<>();
                Map<String, List<ClassOutput>> expected = fresh.classesByPath();
                Map<String, List<ClassOutput>> found = edited.classesByPath();
                for (String one : files.keySet()) {
                    boolean open = parent.open().contains(one);
                    if (!Project.equal(expected.get(one), (open ? found : built).get(one)))
                        different.add(one + (open ? " is wrong" : " is not in the session"));
                }
                String about = "step " + step + " in " + path;
                Suite.equal(about + ": []", about + ": " + different);
                files.put(path, sound.get(path));
                parent.put(Map.of(path, sound.get(path)));
                parent.open().forEach(parent::close);
                Suite.equal(about + ": []", about + ": " + parent.open());
            }
        }
    }

    private static Random random() {
        String seed = System.getenv("SNARL_SEED");
        return new Random(seed == null ? 11 : Integer.parseInt(seed));
    }

    private static int steps() {
        String steps = System.getenv("SNARL_EDITS");
        return steps == null ? 12 : Integer.parseInt(steps);
    }

    private static String any(Map<String, String> files, Random random) {
        return new ArrayList<>(files.keySet()).get(random.nextInt(files.size()));
    }

    private static void restore(
            Map<String, String> files, Project edited, Map<String, String> texts) {
        files.putAll(texts);
        texts.forEach(edited::put);
    }

    private static String mutate(String text, Random random) {
        List<String> lines = new ArrayList<>(List.of(text.split("\n")));
        int at = random.nextInt(lines.size());
        switch (random.nextInt(5)) {
            case 0 -> lines.remove(at);
            case 1 -> lines.add(at, lines.get(at));
            case 2 -> lines.add(random.nextInt(lines.size()), lines.remove(at));
            case 3 -> {
                return text.replaceFirst(
                        "(static|private|public) (int|boolean|String) (\\w+)\\(", "$1 long $3(");
            }
            default -> {
                return text.replaceFirst(
                        "\n    (public|private) ",
                        "\n    int added" + random.nextInt(9) + "() { return 1; }\n    $1 ");
            }
        }
        return String.join("\n", lines) + "\n";
    }

    private static Map<String, String> read() throws IOException {
        Map<String, String> files = new TreeMap<>();
        String other = System.getenv("SNARL_SOURCES");
        try (Stream<Path> paths =
                Files.walk(Path.of(other == null ? System.getProperty("snarl.sources") : other))) {
            for (Path path : paths.filter(file -> file.toString().endsWith(".java")).toList())
                files.put(path.toString(), Files.readString(path));
        }
        return files;
    }

    private static Project project(Map<String, String> files, boolean hold) {
        return project(files, hold, System.getProperty("snarl.ecj"));
    }

    private static Project project(
            Map<String, String> files, boolean hold, String... classPath) {
        List<String> texts = new ArrayList<>();
        files.forEach((path, text) -> texts.addAll(List.of(path, text)));
        Project project = new Project(new EcjBackend());
        project.configure(
                new ModuleConfig(
                        "m",
                        "",
                        0,
                        17,
                        false,
                        "",
                        hold,
                        List.of(),
                        List.of(classPath),
                        List.of(),
                        Project.texts(texts.toArray(new String[0]))));
        return project;
    }

    private static void compare(String about, Project edited, Project fresh) {
        Map<String, ClassOutput> found = edited.classes();
        Map<String, ClassOutput> expected = fresh.classes();
        TreeSet<String> names = new TreeSet<>(found.keySet());
        names.addAll(expected.keySet());
        List<String> different = new ArrayList<>();
        for (String name : names) {
            ClassOutput one = found.get(name);
            ClassOutput other = expected.get(name);
            if (one == null || other == null || !Arrays.equals(one.bytes(), other.bytes()))
                different.add(name);
        }
        Suite.equal(about + ": " + fresh.errors(), about + ": " + edited.errors());
        Suite.equal(about + ": []", about + ": " + different);
    }
}
