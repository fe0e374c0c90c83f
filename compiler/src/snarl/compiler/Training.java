package snarl.compiler;

import snarl.compiler.state.Answer;
import snarl.compiler.state.Backend;
import snarl.compiler.state.Cancelled;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Refused;
import snarl.compiler.state.Timing;
import snarl.compiler.state.Workspace;
import snarl.compiler.wire.Answers;
import snarl.compiler.wire.Frames;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.FileText;
import snarl.compiler.wire.Request.ModuleConfig;

import java.util.List;

/**
 * Compiles a little of everything and ends, so that the virtual machine can write down which
 * classes a session needs ({@code -XX:ArchiveClassesAtExit}) and the next start finds them ready.
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

    private Training() {}

    static void run(Backend backend) {
        Workspace workspace = new Workspace(backend);
        try {
            ModuleConfig config =
                    new ModuleConfig(
                            "training",
                            "",
                            0,
                            Math.min(17, backend.newestLevel()),
                            false,
                            "",
                            false,
                            List.of(),
                            List.of(),
                            List.of(),
                            List.of(
                                    new FileText("Sound.java", SOUND),
                                    new FileText("Broken.java", BROKEN)));
            answer(workspace, new Request.Configure(1, List.of(config)));
            String edited = SOUND.replace("LIMIT = 3", "LIMIT = 5");
            Request.Edit edit = new Request.Replace(new FileText("Sound.java", edited));
            answer(
                    workspace,
                    new Request.Change(
                            2, List.of(new Request.ModuleChange("training", List.of(edit)))));
        } catch (Refused | Cancelled impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void answer(Workspace workspace, Request.Work request)
            throws Refused, Cancelled {
        workspace.apply(request);
        Answer answer = workspace.settle(new Timing(), () -> false);
        for (Answer.File file : answer.modules().get(0).files()) {
            if (file.compiled().status() == Compiled.Status.FAILED)
                throw new IllegalStateException(file.compiled().problems().toString());
        }
        Answers.answer(Frames.NO_REQUEST, answer).finish();
    }
}
