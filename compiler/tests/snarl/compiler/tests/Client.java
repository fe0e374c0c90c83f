package snarl.compiler.tests;

import snarl.compiler.wire.Encoder;
import snarl.compiler.wire.Frames;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * The parent's side of the protocol, written after PROTOCOL.md and not after the program: it shares
 * only the encoder of single values with it.
 */
final class Client implements AutoCloseable {
    private final Process process;
    private final DataOutputStream out;
    private final DataInputStream in;

    /** A frame that came back. */
    record Frame(int kind, DataInputStream body) {}

    record Result(
            int request,
            long micros,
            int files,
            List<String> notes,
            Map<String, FileResult> filesByPath) {}

    /**
     * @param changed names of types, each with what has changed behind it
     */
    record FileResult(
            int status,
            int flags,
            List<String> problems,
            Map<String, ClassResult> classes,
            List<String> changed) {}

    record ClassResult(int flags, List<String> stubs, List<String> lost, byte[] bytes) {}

    Client(String... arguments) throws IOException {
        this(command(), List.of(), List.of(arguments));
    }

    /** A process that has only so much memory, as -Xmx says it. */
    static Client withMemory(String size) throws IOException {
        return new Client(command(), List.of("-Xmx" + size), List.of());
    }

    /** A process that does not find its classes ready when it starts. */
    static Client withoutArchive() throws IOException {
        List<String> command =
                command().stream()
                        .filter(part -> !part.startsWith("-XX:SharedArchiveFile"))
                        .toList();
        return new Client(command, List.of(), List.of());
    }

    private static List<String> command() {
        return List.of(System.getProperty("snarl.command").split("\n"));
    }

    private Client(List<String> start, List<String> machine, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>(start.subList(0, 1));
        command.addAll(machine);
        command.addAll(start.subList(1, start.size()));
        command.addAll(arguments);
        process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        out = new DataOutputStream(process.getOutputStream());
        in = new DataInputStream(process.getInputStream());
    }

    Frame greet() throws IOException {
        send(new Encoder(Frames.HELLO).i32(Frames.MAGIC).i32(Frames.VERSION));
        return receive();
    }

    void configure(int request, String classPath, int level, String... files) throws IOException {
        Encoder frame = new Encoder(Frames.CONFIGURE).i32(request).i32(1);
        frame.text("m").text("").i32(0).i32(level).bool(false).text("").bool(false).i32(0);
        if (classPath.isEmpty()) frame.i32(0);
        else frame.i32(1).text(classPath);
        frame.i32(0).i32(files.length / 2);
        for (int i = 0; i < files.length; i += 2)
            frame.text(files[i]).bool(true).text(files[i + 1]);
        send(frame);
    }

    /** A module that consists of everything below a directory. */
    void configureRoot(int request, int level, String root, String... classPath)
            throws IOException {
        Encoder frame = new Encoder(Frames.CONFIGURE).i32(request).i32(1);
        frame.text("m").text("").i32(0).i32(level).bool(false).text("").bool(false).i32(0);
        frame.i32(classPath.length);
        for (String entry : classPath) frame.text(entry);
        frame.i32(1).text(root).i32(0);
        send(frame);
    }

    void replace(int request, String path, String text) throws IOException {
        send(
                new Encoder(Frames.CHANGE)
                        .i32(request)
                        .i32(1)
                        .text("m")
                        .i32(1)
                        .u8(0)
                        .text(path)
                        .bool(true)
                        .text(text));
    }

    void send(Encoder frame) throws IOException {
        raw(frame.finish());
    }

    void raw(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
    }

    /** Null when the process has closed its end. */
    Frame receive() throws IOException {
        try {
            byte[] body = new byte[in.readInt() - 1];
            int kind = in.readUnsignedByte();
            in.readFully(body);
            return new Frame(kind, new DataInputStream(new ByteArrayInputStream(body)));
        } catch (EOFException end) {
            return null;
        }
    }

    Result result() throws IOException {
        Frame frame = receive();
        if (frame == null) throw new IOException("the process has gone");
        if (frame.kind != Frames.ANSWER)
            throw new IOException(
                    "no answer but a frame of kind " + frame.kind + ": " + error(frame));
        return result(frame);
    }

    static Result result(Frame frame) throws IOException {
        DataInputStream body = frame.body;
        int request = body.readInt();
        long micros = body.readLong();
        body.readLong();
        body.readLong();
        body.readInt();
        int compiled = body.readInt();
        List<String> notes = texts(body);
        Map<String, FileResult> files = new TreeMap<>();
        for (int modules = body.readInt(); modules > 0; modules--) {
            text(body);
            for (int count = body.readInt(); count > 0; count--) files.put(text(body), file(body));
        }
        if (body.read() >= 0) throw new IOException("bytes behind the answer");
        return new Result(request, micros, compiled, notes, files);
    }

    private static FileResult file(DataInputStream body) throws IOException {
        int status = body.readUnsignedByte();
        int flags = body.readUnsignedByte();
        List<String> problems = new ArrayList<>();
        for (int count = body.readInt(); count > 0; count--) {
            String place =
                    body.readUnsignedByte()
                            + " "
                            + body.readInt()
                            + ":"
                            + body.readInt()
                            + "-"
                            + body.readInt()
                            + ":"
                            + body.readInt();
            body.readInt();
            problems.add(place + " " + text(body));
        }
        Map<String, ClassResult> classes = new TreeMap<>();
        for (int count = body.readInt(); count > 0; count--) {
            String name = text(body);
            int classFlags = body.readUnsignedByte();
            List<String> stubs = new ArrayList<>();
            for (int stub = body.readInt(); stub > 0; stub--) stubs.add(text(body) + text(body));
            classes.put(name, new ClassResult(classFlags, stubs, texts(body), blob(body)));
        }
        List<String> changed = new ArrayList<>();
        for (int count = body.readInt(); count > 0; count--) {
            String name = text(body);
            boolean whole = body.readBoolean();
            List<String> members = texts(body);
            changed.add(name + (whole ? " whole " : " ") + members);
        }
        return new FileResult(status, flags, problems, classes, changed);
    }

    /** The message of an error frame, behind its request number. */
    static String error(Frame frame) throws IOException {
        return frame.kind == Frames.ERROR ? frame.body.readInt() + ": " + text(frame.body) : "";
    }

    private static List<String> texts(DataInputStream body) throws IOException {
        List<String> texts = new ArrayList<>();
        for (int count = body.readInt(); count > 0; count--) texts.add(text(body));
        return texts;
    }

    static String text(DataInputStream body) throws IOException {
        return new String(blob(body), StandardCharsets.UTF_8);
    }

    private static byte[] blob(DataInputStream body) throws IOException {
        byte[] bytes = new byte[body.readInt()];
        body.readFully(bytes);
        return bytes;
    }

    void closeInput() throws IOException {
        out.close();
    }

    /** The exit code; -1 if the process does not end in time. */
    int exit() throws InterruptedException {
        return process.waitFor(20, TimeUnit.SECONDS) ? process.exitValue() : -1;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
