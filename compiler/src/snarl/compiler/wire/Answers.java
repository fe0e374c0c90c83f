package snarl.compiler.wire;

import snarl.compiler.shape.Difference;
import snarl.compiler.state.Answer;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.state.Problem;
import snarl.compiler.state.Timing;

import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/** Writes all that the parent is told as frames. */
public final class Answers {
    private static final byte[] NO_BYTES = {};

    private Answers() {}

    public static Encoder welcome(String compiler, String version, int newestLevel) {
        return new Encoder(Frames.WELCOME)
                .i32(Frames.MAGIC)
                .i32(Frames.VERSION)
                .text(compiler)
                .text(version)
                .i32(newestLevel)
                .text(System.getProperty("java.version"));
    }

    public static Encoder pong(int token) {
        return new Encoder(Frames.PONG).i32(token);
    }

    public static Encoder bye() {
        return new Encoder(Frames.BYE);
    }

    public static Encoder error(int request, String message) {
        return new Encoder(Frames.ERROR).i32(request).text(message);
    }

    /**
     * @param by the request that has the changes of this one in it; {@link Frames#NO_REQUEST} for
     *     the next to come
     */
    public static Encoder superseded(int request, int by) {
        return new Encoder(Frames.SUPERSEDED).i32(request).i32(by);
    }

    public static Encoder answer(int request, Answer answer) {
        Encoder out = new Encoder(Frames.ANSWER).i32(request);
        Timing timing = answer.timing();
        out.i64(timing.totalMicros()).i64(timing.declaringMicros()).i64(timing.compilingMicros());
        out.i32(timing.rounds()).i32(timing.files());
        list(out, answer.notes(), Encoder::text);
        list(
                out,
                answer.modules(),
                (to, module) -> {
                    to.text(module.id());
                    list(to, module.files(), Answers::file);
                });
        return out;
    }

    private static void file(Encoder out, Answer.File file) {
        Compiled compiled = file.compiled();
        out.text(file.path());
        out.u8(
                switch (compiled.status()) {
                    case COMPILED -> 0;
                    case REMOVED -> 1;
                    case IGNORED -> 2;
                    case FAILED -> 3;
                    case WITHHELD -> 4;
                });
        out.u8(
                (compiled.errors() ? 1 : 0)
                        | (compiled.syntaxErrors() ? 2 : 0)
                        | (compiled.attributed() ? 0 : 4)
                        | (file.dependent() ? 8 : 0));
        list(out, compiled.problems(), Answers::problem);
        list(out, file.classes(), Answers::classFile);
        list(out, List.copyOf(file.changed().entrySet()), Answers::changed);
    }

    private static void changed(Encoder out, Map.Entry<String, Difference> type) {
        Difference difference = type.getValue();
        out.text(type.getKey()).bool(difference.whole());
        list(out, List.copyOf(difference.members()), Encoder::text);
    }

    private static void problem(Encoder out, Problem problem) {
        out.u8(problem.severity());
        out.i32(problem.line())
                .i32(problem.column())
                .i32(problem.endLine())
                .i32(problem.endColumn());
        out.i32(problem.id());
        out.text(problem.message());
    }

    private static void classFile(Encoder out, Answer.ClassFile classFile) {
        ClassOutput output = classFile.output();
        out.text(output.name());
        out.u8((classFile.known() ? 1 : 0) | (output.problemType() ? 2 : 0));
        list(out, output.stubs(), (to, stub) -> to.text(stub.name()).text(stub.descriptor()));
        list(out, output.lost(), Encoder::text);
        out.blob(classFile.known() ? NO_BYTES : output.bytes());
    }

    private static <T> void list(Encoder out, List<T> list, BiConsumer<Encoder, T> element) {
        out.i32(list.size());
        for (T item : list) element.accept(out, item);
    }
}
