package snarl.compiler.tests;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Compiled.ClassOutput;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Random edits of a project of which only the edited files are in the session, over the classes of
 * a build. What {@link Parent} is told must be enough for it to send all others that come out
 * differently. SNARL_SEED and SNARL_EDITS ask for other and longer sequences.
 */
final class RandomBuiltTests {
    private RandomBuiltTests() {}

    static void add(Suite suite) {
        int first = number("SNARL_SEED", 1);
        int steps = number("SNARL_EDITS", 20);
        for (int seed = first; seed < first + 12; seed++) {
            int chosen = seed;
            suite.test(
                    "random edits over built classes, seed "
                            + seed
                            + ": the session has all that come out differently, and has them right",
                    () -> run(chosen, steps));
        }
    }

    private static void run(int seed, int steps) throws IOException {
        Random random = new Random(seed);
        int level = new int[] {8, 11, 17, 21}[random.nextInt(4)];
        Map<Integer, RandomSource> files = sound(level, random);
        // They stay where they are, whatever becomes of their packages.
        Map<Integer, String> places = new TreeMap<>();
        files.forEach((number, file) -> places.put(number, file.place() + "/" + file.path()));
        Map<String, String> texts = texts(files, places);
        Map<String, List<ClassOutput>> built = fresh(level, texts).classesByPath();
        try (Scratch scratch = new Scratch()) {
            for (List<ClassOutput> classes : built.values()) {
                for (ClassOutput output : classes)
                    scratch.write("out/" + output.name() + ".class", output.bytes());
            }
            Project project = new Project(new EcjBackend());
            project.configure(
                    Project.withClassPath(
                            Project.module("m", level), scratch.root.resolve("out").toString()));
            Parent parent = new Parent(project, texts, built);
            List<String> history = new ArrayList<>();
            history.add("seed " + seed + ", level " + level);
            for (int step = 0; step < steps; step++) {
                Map<String, String> edits = new TreeMap<>();
                for (int count = 1 + random.nextInt(2); count > 0; count--)
                    edit(files, places, edits, random);
                history.add("step " + step + ": " + edits);
                parent.put(edits);
                Map<String, String> now = texts(files, places);
                Project fresh = fresh(level, now);
                compare(history, now, parent, project, built, fresh);
                // What is as it was built may go.
                for (String path : parent.open()) {
                    boolean same =
                            texts.get(path).equals(now.get(path))
                                    && Project.equal(
                                            built.get(path), project.classesByPath().get(path));
                    if (!same || random.nextBoolean()) continue;
                    history.add("closed " + path);
                    parent.close(path);
                }
                compare(history, now, parent, project, built, fresh);
            }
        }
    }

    /** Files that refer to each other without any error. */
    private static Map<Integer, RandomSource> sound(int level, Random random) {
        Map<Integer, RandomSource> files = new TreeMap<>();
        for (int i = 0; i < RandomSource.FILES; i++) files.put(i, new RandomSource(i));
        Map<Integer, String> paths = new TreeMap<>();
        files.forEach((number, file) -> paths.put(number, file.path()));
        Project project = fresh(level, texts(files, paths));
        for (int tries = 0; tries < 150; tries++) {
            RandomSource file = files.get(random.nextInt(RandomSource.FILES));
            Runnable undo = file.edit(random);
            project.put(file.path(), file.text());
            if (project.errors().isEmpty()) continue;
            undo.run();
            project.put(file.path(), file.text());
        }
        Suite.equal(List.of(), project.errors());
        return files;
    }

    private static void edit(
            Map<Integer, RandomSource> files,
            Map<Integer, String> places,
            Map<String, String> edits,
            Random random) {
        int number = random.nextInt(RandomSource.FILES);
        RandomSource file = files.get(number);
        if (file == null) files.put(number, file = new RandomSource(number, random));
        else if (random.nextInt(12) == 0) {
            files.remove(number);
            edits.put(places.get(number), ""); // what was built of it is gone with it
            return;
        } else file.edit(random);
        edits.put(places.get(number), file.text());
    }

    private static Map<String, String> texts(
            Map<Integer, RandomSource> files, Map<Integer, String> paths) {
        Map<String, String> texts = new TreeMap<>();
        files.forEach((number, file) -> texts.put(paths.get(number), file.text()));
        return texts;
    }

    private static Project fresh(int level, Map<String, String> files) {
        List<String> texts = new ArrayList<>();
        files.forEach((path, text) -> texts.addAll(List.of(path, text)));
        Project project = new Project(new EcjBackend());
        project.configure(Project.module("m", level, texts.toArray(new String[0])));
        return project;
    }

    private static void compare(
            List<String> history,
            Map<String, String> texts,
            Parent parent,
            Project project,
            Map<String, List<ClassOutput>> built,
            Project fresh) {
        if (isInexact(fresh.errors()) || isInexact(project.errors())) return;
        Map<String, List<ClassOutput>> expected = fresh.classesByPath();
        Map<String, List<ClassOutput>> found = project.classesByPath();
        List<String> differences = new ArrayList<>();
        for (String path : texts.keySet()) {
            boolean open = parent.open().contains(path);
            if (!Project.equal(expected.get(path), (open ? found : built).get(path)))
                differences.add(path + (open ? " is wrong" : " is not in the session"));
            if (open && !errors(fresh, path).equals(errors(project, path)))
                differences.add(
                        "\nexpected " + errors(fresh, path) + "\nfound " + errors(project, path));
        }
        if (differences.isEmpty()) return;
        StringBuilder all = new StringBuilder();
        texts.forEach((path, text) -> all.append("--- ").append(path).append('\n').append(text));
        throw new AssertionError(
                history.get(0)
                        + ": "
                        + differences
                        + "\nlast "
                        + history.subList(Math.max(0, history.size() - 3), history.size())
                        + " of "
                        + history.size()
                        + "\n"
                        + all);
    }

    private static List<String> errors(Project project, String path) {
        return project.errors().stream().filter(error -> error.startsWith(path + ":")).toList();
    }

    /**
     * Circles, and types that are declared twice, are not exact as long as they are there; see
     * README.md.
     */
    private static boolean isInexact(List<String> errors) {
        return errors.stream()
                .anyMatch(
                        error ->
                                error.contains("Cycle detected")
                                        || error.endsWith("is already defined"));
    }

    private static int number(String variable, int otherwise) {
        String value = System.getenv(variable);
        return value == null ? otherwise : Integer.parseInt(value);
    }
}
