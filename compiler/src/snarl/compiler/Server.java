package snarl.compiler;

import snarl.compiler.state.Answer;
import snarl.compiler.state.Backend;
import snarl.compiler.state.Cancelled;
import snarl.compiler.state.Refused;
import snarl.compiler.state.Timing;
import snarl.compiler.state.Workspace;
import snarl.compiler.wire.Answers;
import snarl.compiler.wire.Encoder;
import snarl.compiler.wire.FrameReader;
import snarl.compiler.wire.FrameWriter;
import snarl.compiler.wire.Frames;
import snarl.compiler.wire.MalformedFrame;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Requests;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The conversation with the parent. One thread reads, and answers at once what needs no work;
 * another one works on requests in their order. Requests that wait together are worked on together.
 * It knows nothing of compiling.
 */
final class Server {
    private final FrameReader in;
    private final FrameWriter out;
    private final Backend backend;
    private final Workspace workspace;
    private final BlockingQueue<Request> waiting = new LinkedBlockingQueue<>();
    private volatile int cancelled = Frames.NO_REQUEST;
    private volatile boolean ended;

    Server(FrameReader in, FrameWriter out, Backend backend) {
        this.in = in;
        this.out = out;
        this.backend = backend;
        this.workspace = new Workspace(backend);
    }

    /** Works until the parent says so or its end of the pipe is closed. */
    void run() throws IOException {
        Thread reader = new Thread(this::read, "reader");
        reader.setDaemon(true);
        reader.start();
        try {
            while (work(next())) {}
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- the reading thread ----

    private void read() {
        try {
            while (!ended) {
                try {
                    byte[] frame = in.next();
                    if (frame == null) break;
                    read(frame);
                } catch (MalformedFrame wrong) {
                    out.write(
                            Answers.error(
                                    Frames.NO_REQUEST, "malformed frame: " + wrong.getMessage()));
                }
            }
        } catch (IOException gone) {
            // Nobody is there any more.
        } finally {
            ended = true;
            waiting.add(new Request.Shutdown());
        }
    }

    private void read(byte[] frame) throws IOException {
        Request request;
        try {
            request = Requests.read(frame);
        } catch (MalformedFrame wrong) {
            out.write(
                    Answers.error(
                            Requests.numberOf(frame), "malformed frame: " + wrong.getMessage()));
            return;
        }
        if (request instanceof Request.Hello hello) out.write(greet(hello));
        else if (request instanceof Request.Ping ping) out.write(Answers.pong(ping.token()));
        else if (request instanceof Request.Cancel cancel) cancelled = cancel.number();
        else waiting.add(request);
    }

    private Encoder greet(Request.Hello hello) {
        if (hello.magic() != Frames.MAGIC)
            return Answers.error(Frames.NO_REQUEST, "this is not the protocol that is spoken here");
        if (hello.version() != Frames.VERSION) {
            return Answers.error(
                    Frames.NO_REQUEST,
                    "protocol version "
                            + hello.version()
                            + " is asked for, "
                            + Frames.VERSION
                            + " is spoken");
        }
        return Answers.welcome(backend.name(), backend.version(), backend.newestLevel());
    }

    // ---- the working thread ----

    /** All that waits, at least one. */
    private List<Request> next() throws InterruptedException {
        List<Request> requests = new ArrayList<>();
        requests.add(waiting.take());
        waiting.drainTo(requests);
        return requests;
    }

    /** False when it was the last work. */
    private boolean work(List<Request> requests) throws IOException {
        int last = Frames.NO_REQUEST;
        for (Request request : requests) {
            if (request instanceof Request.Shutdown) {
                // What waits is answered first, unless nobody is there to read it.
                if (!ended) {
                    settle(last);
                    out.write(Answers.bye());
                }
                ended = true;
                return false;
            }
            Request.Work work = (Request.Work) request;
            if (!apply(work)) continue;
            if (last != Frames.NO_REQUEST) out.write(Answers.superseded(last, work.number()));
            last = work.number();
        }
        settle(last);
        return true;
    }

    private boolean apply(Request.Work request) throws IOException {
        try {
            workspace.apply(request);
            return true;
        } catch (Refused refused) {
            out.write(Answers.error(request.number(), refused.getMessage()));
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
            out.write(Answers.error(request.number(), internal(broken)));
        }
        return false;
    }

    private void settle(int request) throws IOException {
        if (request == Frames.NO_REQUEST) return;
        try {
            Answer answer = workspace.settle(new Timing(), () -> ended || cancelled == request);
            out.write(Answers.answer(request, answer));
        } catch (Cancelled given) {
            if (!ended) out.write(Answers.superseded(request, Frames.NO_REQUEST));
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
            out.write(Answers.error(request, internal(broken)));
        }
    }

    private static String internal(Throwable broken) {
        broken.printStackTrace(System.err);
        return "internal error: " + broken;
    }
}
