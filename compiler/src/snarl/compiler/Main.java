package snarl.compiler;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.javac.JavacBackend;
import snarl.compiler.state.Backend;
import snarl.compiler.wire.FrameReader;
import snarl.compiler.wire.FrameWriter;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/**
 * The compiler process: reads requests from standard input and writes answers to standard output,
 * as PROTOCOL.md says. Nothing else ever reaches standard output; what libraries print goes to
 * standard error.
 */
public final class Main {
    /** Syntax trees are walked by recursion, and generated code can be nested deeply. */
    private static final long STACK = 128L << 20;

    private Main() {}

    public static void main(String[] arguments) throws InterruptedException {
        List<String> given = List.of(arguments);
        for (String argument : given) {
            if (!argument.equals("--javac") && !argument.equals("--train")) {
                System.err.println(
                        "usage: java -cp snarl-compiler.jar:ecj.jar snarl.compiler.Main [--javac]"
                                + " [--train]");
                System.exit(2);
            }
        }
        Backend backend = backend(given.contains("--javac"));
        if (given.contains("--train")) {
            onLargeStack(() -> Training.run(backend));
            return;
        }
        OutputStream answers =
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        InputStream requests = new FileInputStream(FileDescriptor.in);
        System.setOut(System.err);
        System.setIn(InputStream.nullInputStream());
        onLargeStack(
                () -> {
                    try {
                        new Server(new FrameReader(requests), new FrameWriter(answers), backend)
                                .run();
                    } catch (IOException gone) {
                        // The parent has gone while it was answered.
                    }
                });
        System.exit(0);
    }

    private static Backend backend(boolean javac) {
        if (javac) return new JavacBackend();
        try {
            return new EcjBackend();
        } catch (LinkageError missing) {
            System.err.println(
                    "the Eclipse compiler cannot be loaded, so javac is used: " + missing);
            return new JavacBackend();
        }
    }

    private static void onLargeStack(Runnable work) throws InterruptedException {
        Thread thread = new Thread(null, work, "worker", STACK);
        thread.start();
        thread.join();
    }
}
