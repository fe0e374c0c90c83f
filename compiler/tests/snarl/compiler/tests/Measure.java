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
 * How long the process takes on a real project, measured from outside: start, one file over the
 * classes of a build, all files, edits in files of several sizes. At the end the classes are
 * compared with those of a compile from nothing. Arguments: a directory of sources, one of the
 * classes a build has made of them, the language level, the number of edits.
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
        opening("", Client::new, nearest(files, 1000), arguments[1], level);
        opening(
                ", without an archive",
                Client::withoutArchive,
                nearest(files, 1000),
                arguments[1],
                level);
        Map<String, Map<String, byte[]>> known = new TreeMap<>();
        Map<Path, String> now = new TreeMap<>(files);
        try (Client client = new Client()) {
            client.greet();
            long began = System.nanoTime();
            client.configureRoot(1, level, root.toString());
            Result all = client.result();
            took("everything, from nothing", began);
            take(known, all);
        }
        try (Client client = new Client()) {
            client.greet();
            long began = System.nanoTime();
            client.configureRoot(1, level, root.toString(), arguments[1]);
            Result all = client.result();
            took("everything, over the classes of a build", began);
            long broken =
                    all.filesByPath().values().stream()
                            .filter(file -> !file.problems().isEmpty())
                            .count();
            int classes = known.values().stream().mapToInt(Map::size).sum();
            System.out.printf("%n%d classes, %d files with errors%n", classes, broken);
            List<String> changed =
                    all.filesByPath().values().stream()
                            .flatMap(file -> file.changed().stream())
                            .toList();
            System.out.println(
                    "classes that others see differently than the build's: "
                            + (changed.isEmpty() ? "none" : changed));
        }
        System.out.println("\nEdits with only the file itself, over the classes of a build:\n");
        for (Kind kind : head()) {
            for (int size : SIZES) {
                Path file = nearest(files, size);
                try (Client client = new Client()) {
                    client.greet();
                    client.configure(1, arguments[1], level, file.toString(), files.get(file));
                    client.result();
                    edits(client, kind, new TreeMap<>(files), new TreeMap<>(), file, edits);
                }
            }
        }
        System.out.println("\nEdits with all files:\n");
        try (Client client = new Client()) {
            client.greet();
            client.configureRoot(1, level, root.toString());
            client.result();
            for (Kind kind : head()) {
                for (int size : SIZES)
                    edits(client, kind, now, known, nearest(files, size), edits);
            }
            touchAll(client, now, known);
        }
        verify(level, now, known, root);
    }

    private static List<Kind> head() {
        System.out.println(
                "| typed"
                        + " | in a file of | p50 ms | p95 | p99 | most | inside, p50 |"
                        + " files compiled, mean | most |\n"
                        + "|---|---|---|---|---|---|---|---|---|");
        return List.of(Kind.values());
    }

    private interface Start {
        Client client() throws IOException;
    }

    private static void opening(String how, Start start, Path file, String classes, int level)
            throws IOException {
        long[] welcome = new long[5];
        long[] first = new long[5];
        String text = Files.readString(file);
        for (int i = 0; i < welcome.length; i++) {
            long began = System.nanoTime();
            try (Client client = start.client()) {
                client.greet();
                welcome[i] = System.nanoTime() - began;
                client.configure(1, classes, level, file.toString(), text);
                FileResult result = client.result().filesByPath().get(file.toString());
                first[i] = System.nanoTime() - began;
                if (!result.problems().isEmpty() || !result.changed().isEmpty())
                    throw new IllegalStateException(result.problems() + " " + result.changed());
            }
        }
        System.out.printf("| start to welcome%s, median of 5 | %.0f |%n", how, median(welcome));
        System.out.printf(
                "| start to the classes of one file of %d lines over the classes of a build%s |"
                        + " %.0f |%n",
                text.lines().count(), how, median(first));
    }

    /** What is typed, and where. */
    private enum Kind {
        BODY("a statement"),
        BROKEN("a statement with an error"),
        FIELD("a private field"),
        METHOD("a public method");

        private final String what;

        Kind(String what) {
            this.what = what;
        }

        String edit(String text, int number) {
            List<Integer> places = bodies(text);
            int place = places.get(number * 7 % places.size());
            int end = text.lastIndexOf('}');
            return switch (this) {
                case BODY -> insert(text, place, " int snarl" + number + " = " + number + ";");
                case BROKEN -> insert(text, place, " int snarl" + number + " = missing(;");
                case FIELD -> insert(text, end, " private int snarl" + number + ";");
                case METHOD -> insert(text, end, " public void snarl" + number + "() { }");
            };
        }

        private static String insert(String text, int place, String what) {
            return text.substring(0, place) + what + text.substring(place);
        }
    }

    private static void edits(
            Client client,
            Kind kind,
            Map<Path, String> now,
            Map<String, Map<String, byte[]>> known,
            Path file,
            int count)
            throws IOException {
        String text = now.get(file);
        // Every edit of a head may compile hundreds of files.
        int number = kind == Kind.METHOD ? Math.max(5, count / 20) : count;
        long[] outside = new long[number];
        long[] inside = new long[number];
        long all = 0;
        int most = 0;
        for (int i = 0; i < number; i++) {
            String edited = kind.edit(text, i);
            long began = System.nanoTime();
            client.replace(100 + i, file.toString(), edited);
            Result result = client.result();
            outside[i] = System.nanoTime() - began;
            inside[i] = result.micros() * 1000;
            most = Math.max(most, result.files());
            all += result.files();
            take(known, result);
        }
        // Something stays, so that there is something to verify.
        now.put(file, Kind.BODY.edit(text, count + kind.ordinal()));
        client.replace(99, file.toString(), now.get(file));
        take(known, client.result());
        Arrays.sort(outside);
        System.out.printf(
                "| %s | %d lines (%s) | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %d |%n",
                kind.what,
                text.lines().count(),
                file.getFileName(),
                part(outside, 50),
                part(outside, 95),
                part(outside, 99),
                part(outside, 100),
                median(inside),
                (double) all / number,
                most);
    }

    /** Compiles every file of the project, each alone. */
    private static void touchAll(
            Client client, Map<Path, String> now, Map<String, Map<String, byte[]>> known)
            throws IOException {
        long[] outside = new long[now.size()];
        int most = 0;
        int i = 0;
        for (Map.Entry<Path, String> file : now.entrySet()) {
            file.setValue(file.getValue() + " ");
            long began = System.nanoTime();
            client.replace(1000 + i, file.getKey().toString(), file.getValue());
            Result result = client.result();
            outside[i++] = System.nanoTime() - began;
            most = Math.max(most, result.files());
            take(known, result);
        }
        Arrays.sort(outside);
        System.out.printf(
                "| a space | each of all files | %.1f | %.1f | %.1f | %.1f | | | %d |%n",
                part(outside, 50), part(outside, 95), part(outside, 99), part(outside, 100), most);
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
