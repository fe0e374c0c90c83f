package snarl.compiler;

import snarl.compiler.state.Answer;
import snarl.compiler.state.Backend;
import snarl.compiler.state.Cancelled;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Refused;
import snarl.compiler.state.Timing;
import snarl.compiler.state.Workspace;
import snarl.compiler.wire.Answers;
import snarl.compiler.wire.Encoder;
import snarl.compiler.wire.FrameReader;
import snarl.compiler.wire.FrameWriter;
import snarl.compiler.wire.Frames;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.FileText;
import snarl.compiler.wire.Request.ModuleConfig;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Compiles a little of everything, by itself and over its own classes, and ends, so that the
 * virtual machine can write down which classes a session needs ({@code -XX:ArchiveClassesAtExit})
 * and the next start finds them ready.
 */
final class Training {
    private static final String SOUND =
            """
package training;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;
public class Sound<T extends Comparable<T>> implements Runnable {
    enum Color { RED, GREEN }
    interface Shape { default int size() { return 1; } }
    static class Box implements Shape { @Override public int size() { return super.hashCode(); } }
    private final Map<String, List<? super T>> map = new ConcurrentHashMap<>();
    static final int LIMIT = 3 + 4;
    private volatile long count;
    public synchronized void run() {
        for (String key : map.keySet()) synchronized (map) { count += key.length() * LIMIT; }
        try (java.io.StringReader in = new java.io.StringReader("x" + count)) { in.read(); }
        catch (java.io.IOException | RuntimeException e) { throw new IllegalStateException(e); }
        finally { count--; }
    }
    int pick(Color color, Object o, String text) {
        switch (color) { case RED: return 1; default: break; }
        switch (text) { case "a": return 1; case "b": return 2; }
        Function<Integer, Integer> twice = x -> x * 2;
        Comparator<String> order = Comparator.comparing(String::length);
        Runnable r = new Runnable() { public void run() { System.out.println(o); } };
        ExecutorService pool = Executors.newFixedThreadPool(2);
        pool.submit(r); pool.submit(this::run);
        int[] array = { 1, 2, 3 }; int sum = 0;
        for (int i = 0; i < array.length; i++) sum += o instanceof String ? array[i] : twice.apply(i);
        do { sum--; } while (sum > 0 && order != null);
        return sum << 2;
    }
}
""";
    private static final String BROKEN =
            """
package training;
class Broken { int field = Missing.x; void fine() {} void bad() { return 1 } int worse() { new Sound<String>().nothing(); } }
""";

    private static final String MODULE = "training";

    private Training() {}

    static void run(Backend backend) {
        try {
            Path directory = Files.createTempDirectory("snarl-training");
            try {
                FileText sound = new FileText("Sound.java", SOUND);
                FileText broken = new FileText("Broken.java", BROKEN);
                write(compile(backend, false, List.of(), sound, broken), directory);
                compile(backend, true, List.of(directory.toString()), sound);
                converse(backend);
            } finally {
                delete(directory);
            }
        } catch (Refused | Cancelled | IOException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Compiles the files, follows a few edits, and answers what was said first. */
    private static Answer compile(
            Backend backend, boolean hold, List<String> classPath, FileText... files)
            throws Refused, Cancelled {
        ModuleConfig config =
                new ModuleConfig(
                        MODULE,
                        "",
                        0,
                        Math.min(17, backend.newestLevel()),
                        false,
                        "",
                        hold,
                        List.of(),
                        classPath,
                        List.of(),
                        List.of(files));
        Workspace workspace = new Workspace(backend);
        Answer first = answer(workspace, new Request.Configure(1, List.of(config)));
        change(workspace, new Request.Replace(new FileText("Sound.java", BROKEN)));
        String edited = SOUND.replace("LIMIT = 3", "LIMIT = 5");
        change(workspace, new Request.Replace(new FileText("Sound.java", edited)));
        for (String entry : classPath) change(workspace, new Request.ClassPathChanged(entry));
        change(workspace, new Request.Remove("Sound.java"));
        return first;
    }

    private static void change(Workspace workspace, Request.Edit edit) throws Refused, Cancelled {
        Request.ModuleChange change = new Request.ModuleChange(MODULE, List.of(edit));
        answer(workspace, new Request.Change(2, List.of(change)));
    }

    /** A session in which every kind of request is made, and no work. */
    private static void converse(Backend backend) throws IOException {
        List<Encoder> frames =
                List.of(
                        new Encoder(Frames.HELLO).i32(Frames.MAGIC).i32(Frames.VERSION),
                        new Encoder(Frames.CONFIGURE).i32(1).i32(0),
                        new Encoder(Frames.CHANGE).i32(2).i32(0),
                        new Encoder(Frames.PING).i32(0),
                        new Encoder(Frames.CANCEL).i32(2),
                        new Encoder(Frames.SHUTDOWN));
        ByteArrayOutputStream requests = new ByteArrayOutputStream();
        for (Encoder frame : frames) requests.write(frame.finish());
        FrameReader in = new FrameReader(new ByteArrayInputStream(requests.toByteArray()));
        FrameWriter out = new FrameWriter(OutputStream.nullOutputStream());
        new Server(in, out, backend).run();
    }

    private static Answer answer(Workspace workspace, Request.Work request)
            throws Refused, Cancelled {
        workspace.apply(request);
        Answer answer = workspace.settle(new Timing(), () -> false);
        for (Answer.File file : files(answer)) {
            if (file.compiled().status() == Compiled.Status.FAILED)
                throw new IllegalStateException(file.compiled().problems().toString());
        }
        Answers.answer(Frames.NO_REQUEST, answer).finish();
        return answer;
    }

    private static List<Answer.File> files(Answer answer) {
        return answer.modules().isEmpty() ? List.of() : answer.modules().get(0).files();
    }

    /** Writes the classes as a build does. */
    private static void write(Answer answer, Path directory) throws IOException {
        for (Answer.File file : files(answer)) {
            for (Answer.ClassFile one : file.classes()) {
                Path path = directory.resolve(one.output().name() + ".class");
                Files.createDirectories(path.getParent());
                Files.write(path, one.output().bytes());
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }
}
