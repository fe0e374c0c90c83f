package snarl.compiler.tests;

import snarl.compiler.tests.Client.ClassResult;
import snarl.compiler.tests.Client.FileResult;
import snarl.compiler.tests.Client.Result;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * How long the process takes on a real project, measured from outside: start, first compile, edits
 * of bodies in files of several sizes. At the end the classes are compared with those of a compile
 * from nothing. Arguments: a directory of sources, a jar of the same classes, the language level,
 * the number of edits.
 */
public final class Measure {
    private static final int[] SIZES = {100, 1000, 3500};

    private Measure() {}

    public static void main(String[] arguments) throws Exception {
        Path root = Path.of(arguments[0]);
        int level = Integer.parseInt(arguments[2]);
        int edits = Integer.parseInt(arguments[3]);
        Map<Path, String> files = read(root);
        long lines = files.values().stream().mapToLong(text -> text.lines().count()).sum();
        System.out.printf("%d files, %d lines%n%n", files.size(), lines);
        System.out.println("| what | ms |\n|---|---|");
        start(root, nearest(files, 1000), arguments[1], level);
        Map<String, Map<String, byte[]>> known = new TreeMap<>();
        Map<Path, String> now = new TreeMap<>(files);
        try (Client client = new Client()) {
            client.greet();
            long began = System.nanoTime();
            client.configureRoot(1, level, root.toString());
            Result all = client.result();
            took("everything, from nothing", began);
            take(known, all);
            long broken =
                    all.filesByPath().values().stream()
                            .filter(file -> !file.problems().isEmpty())
                            .count();
            int classes = known.values().stream().mapToInt(Map::size).sum();
            System.out.printf("%n%d classes, %d files with errors%n%n", classes, broken);
            System.out.println(
                    "| edits of a body, in a file of | p50 ms | p95 | p99 | most | inside, p50 |"
                        + " files compiled, most |\n"
                        + "|---|---|---|---|---|---|---|");
            for (int size : SIZES) edits(client, now, known, nearest(files, size), edits);
        }
        verify(level, now, known, root);
    }

    private static void start(Path root, Path file, String jar, int level) throws IOException {
        long[] welcome = new long[5];
        long[] first = new long[5];
        String text = Files.readString(file);
        for (int i = 0; i < welcome.length; i++) {
            long began = System.nanoTime();
            try (Client client = new Client()) {
                client.greet();
                welcome[i] = System.nanoTime() - began;
                client.configure(1, jar, level, file.toString(), text);
                client.result();
                first[i] = System.nanoTime() - began;
            }
        }
        System.out.printf("| start to welcome, median of 5 | %.0f |%n", median(welcome));
        System.out.printf(
                "| start to the classes of one file of %d lines | %.0f |%n",
                text.lines().count(), median(first));
    }

    private static void edits(
            Client client,
            Map<Path, String> now,
            Map<String, Map<String, byte[]>> known,
            Path file,
            int count)
            throws IOException {
        String text = now.get(file);
        List<Integer> places = bodies(text);
        long[] outside = new long[count];
        long[] inside = new long[count];
        int most = 0;
        for (int i = 0; i < count; i++) {
            int place = places.get(i * 7 % places.size());
            String edited =
                    text.substring(0, place)
                            + " int snarl"
                            + i
                            + " = "
                            + i
                            + ";"
                            + text.substring(place);
            long began = System.nanoTime();
            client.replace(100 + i, file.toString(), edited);
            Result result = client.result();
            outside[i] = System.nanoTime() - began;
            inside[i] = result.micros() * 1000;
            most = Math.max(most, result.files());
            take(known, result);
            now.put(file, edited);
        }
        Arrays.sort(outside);
        System.out.printf(
                "| %d lines (%s) | %.1f | %.1f | %.1f | %.1f | %.1f | %d |%n",
                text.lines().count(),
                file.getFileName(),
                part(outside, 50),
                part(outside, 95),
                part(outside, 99),
                part(outside, 100),
                median(inside),
                most);
    }

    /** Behind the braces that open the bodies of methods that are not constructors. */
    private static List<Integer> bodies(String text) {
        List<Integer> places = new ArrayList<>();
        var heads =
                java.util.regex.Pattern.compile(
                                "(?m)^ {2,4}(public|private|protected|static|final|synchronized)("
                                    + " \\w+)*( [\\w<>\\[\\]]+) \\w+\\([^)]*\\)[^;{]*\\{$")
                        .matcher(text);
        while (heads.find()) {
            if (!heads.group(3).matches(" (public|private|protected)")) places.add(heads.end());
        }
        if (places.isEmpty()) throw new IllegalStateException("no bodies to edit");
        return places;
    }

    private static void verify(
            int level, Map<Path, String> files, Map<String, Map<String, byte[]>> known, Path root)
            throws IOException {
        Map<String, Map<String, byte[]>> fresh = new TreeMap<>();
        List<String> texts = new ArrayList<>();
        files.forEach((path, text) -> texts.addAll(List.of(path.toString(), text)));
        try (Client client = new Client()) {
            client.greet();
            client.configure(1, "", level, texts.toArray(new String[0]));
            take(fresh, client.result());
        }
        List<String> different = new ArrayList<>();
        for (String path : fresh.keySet()) {
            Map<String, byte[]> one = fresh.get(path);
            Map<String, byte[]> other = known.getOrDefault(path, Map.of());
            if (!one.keySet().equals(other.keySet())) different.add(path);
            else
                one.forEach(
                        (name, bytes) -> {
                            if (!Arrays.equals(bytes, other.get(name))) different.add(name);
                        });
        }
        System.out.println(
                "\nclasses that are not those of a compile from nothing: "
                        + (different.isEmpty() ? "none" : different));
        if (!different.isEmpty()) System.exit(1);
    }

    private static void take(Map<String, Map<String, byte[]>> known, Result result) {
        for (Map.Entry<String, FileResult> file : result.filesByPath().entrySet()) {
            Map<String, byte[]> before = known.getOrDefault(file.getKey(), Map.of());
            Map<String, byte[]> after = new TreeMap<>();
            for (Map.Entry<String, ClassResult> entry : file.getValue().classes().entrySet()) {
                boolean same = (entry.getValue().flags() & 1) != 0;
                after.put(
                        entry.getKey(),
                        same ? before.get(entry.getKey()) : entry.getValue().bytes());
            }
            known.put(file.getKey(), after);
        }
    }

    private static Map<Path, String> read(Path root) throws IOException {
        Map<Path, String> files = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(root)) {
            for (Path path : paths.filter(file -> file.toString().endsWith(".java")).toList())
                files.put(path, Files.readString(path));
        }
        return files;
    }

    private static Path nearest(Map<Path, String> files, int lines) {
        return files.keySet().stream()
                .filter(path -> path.toString().indexOf("-info.java") < 0)
                .filter(
                        path ->
                                !files.get(path).contains("@interface")
                                        && !bodiesOrNone(files.get(path)))
                .min(
                        Comparator.comparing(
                                path -> Math.abs(files.get(path).lines().count() - lines)))
                .orElseThrow();
    }

    private static boolean bodiesOrNone(String text) {
        try {
            return bodies(text).size() < 3;
        } catch (IllegalStateException none) {
            return true;
        }
    }

    private static void took(String what, long began) {
        System.out.printf("| %s | %.0f |%n", what, (System.nanoTime() - began) / 1e6);
    }

    private static double median(long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return part(sorted, 50);
    }

    private static double part(long[] sorted, int percent) {
        return sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)] / 1e6;
    }
}
