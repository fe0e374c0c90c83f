package snarl.compiler.wire;

import java.io.IOException;
import java.io.OutputStream;

/** Writes whole frames, one at a time, whichever thread they come from. */
public final class FrameWriter {
    private final OutputStream out;

    public FrameWriter(OutputStream out) {
        this.out = out;
    }

    public synchronized void write(Encoder frame) throws IOException {
        out.write(frame.finish());
        out.flush();
    }
}
