package snarl.compiler.tests;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.Edit;
import snarl.compiler.wire.Request.FileText;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The test that matters most: after any edits, the classes the parent has are byte for byte those
 * of a compile of everything from nothing. SNARL_SEED and SNARL_EDITS ask for other and longer
 * sequences.
 */
final class RandomEditTests {
    private RandomEditTests() {}

    static void add(Suite suite) {
        int first = number("SNARL_SEED", 1);
        int steps = number("SNARL_EDITS", 40);
        for (int seed = first; seed < first + 12; seed++) {
            int chosen = seed;
            suite.test(
                    "random edits, seed "
                            + seed
                            + ": what follows edits ends where a compile from nothing does",
                    () -> run(chosen, steps));
        }
    }

    private static void run(int seed, int steps) {
        Random random = new Random(seed);
        int level = new int[] {8, 11, 17, 21}[random.nextInt(4)];
        Map<Integer, RandomSource> files = new TreeMap<>();
        for (int i = 0; i < RandomSource.FILES; i++) files.put(i, new RandomSource(i, random));
        Project edited = fresh(level, files.values());
        List<String> history = new ArrayList<>();
        for (int step = 0; step < steps; step++) {
            List<Edit> edits = new ArrayList<>();
            for (int count = 1 + random.nextInt(2); count > 0; count--)
                edits.add(edit(files, random));
            history.add("step " + step + ": " + edits);
            edited.edit("m", edits.toArray(new Edit[0]));
            compare(
                    "seed " + seed + ", level " + level,
                    history,
                    files,
                    edited,
                    fresh(level, files.values()));
        }
    }

    private static Edit edit(Map<Integer, RandomSource> files, Random random) {
        int number = random.nextInt(RandomSource.FILES);
        RandomSource file = files.get(number);
        if (file == null) files.put(number, file = new RandomSource(number, random));
        else if (random.nextInt(12) == 0) {
            files.remove(number);
            return new Request.Remove(file.path());
        } else file.edit(random);
        return new Request.Replace(new FileText(file.path(), file.text()));
    }

    private static Project fresh(int level, Iterable<RandomSource> files) {
        List<String> texts = new ArrayList<>();
        for (RandomSource file : files) {
            texts.add(file.path());
            texts.add(file.text());
        }
        Project project = new Project(new EcjBackend());
        project.configure(Project.module("m", level, texts.toArray(new String[0])));
        return project;
    }

    private static void compare(
            String about,
            List<String> history,
            Map<Integer, RandomSource> files,
            Project edited,
            Project fresh) {
        Map<String, ClassOutput> found = edited.classes();
        Map<String, ClassOutput> expected = fresh.classes();
        List<String> differences = new ArrayList<>();
        TreeSet<String> names = new TreeSet<>(expected.keySet());
        names.addAll(found.keySet());
        for (String name : names) {
            ClassOutput one = expected.get(name);
            ClassOutput other = found.get(name);
            if (one == null) differences.add(name + " should not be there");
            else if (other == null) differences.add(name + " is missing");
            else if (!Arrays.equals(one.bytes(), other.bytes())) differences.add(name + " differs");
        }
        List<String> wanted = live(fresh.errors(), files);
        List<String> errors = live(edited.errors(), files);
        if (!wanted.equals(errors))
            differences.add(
                    "\nexpected " + without(wanted, errors) + "\nfound " + without(errors, wanted));
        if (differences.isEmpty() || inCircles(wanted) || inCircles(errors)) return;
        StringBuilder texts = new StringBuilder();
        files.values()
                .forEach(
                        file ->
                                texts.append("--- ")
                                        .append(file.path())
                                        .append('\n')
                                        .append(file.text()));
        throw new AssertionError(
                about
                        + ": "
                        + differences
                        + "\nlast "
                        + history.get(history.size() - 1)
                        + " of "
                        + history.size()
                        + "\n"
                        + texts);
    }

    private static List<String> without(List<String> some, List<String> others) {
        return some.stream().filter(error -> !others.contains(error)).toList();
    }

    /**
     * Which of the types in a circle is blamed depends on where the compiler begins; afterwards all
     * is exact again.
     */
    private static boolean inCircles(List<String> errors) {
        return errors.stream().anyMatch(error -> error.contains("Cycle detected"));
    }

    private static List<String> live(List<String> errors, Map<Integer, RandomSource> files) {
        List<String> paths = files.values().stream().map(RandomSource::path).toList();
        return errors.stream()
                .filter(error -> paths.contains(error.substring(0, error.indexOf(':'))))
                .toList();
    }

    private static int number(String variable, int otherwise) {
        String value = System.getenv(variable);
        return value == null ? otherwise : Integer.parseInt(value);
    }
}
