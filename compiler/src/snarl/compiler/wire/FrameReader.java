package snarl.compiler.wire;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** Cuts the input into frames: kind and body. Knows lengths, not contents. */
public final class FrameReader {
    private final DataInputStream in;

    public FrameReader(InputStream in) {
        this.in = new DataInputStream(new BufferedInputStream(in, 1 << 16));
    }

    /** The next frame with its kind as first byte, or null where the input ends. */
    public byte[] next() throws IOException, MalformedFrame {
        int length;
        try {
            length = in.readInt();
        } catch (EOFException end) {
            return null;
        }
        if (length <= 0) throw new MalformedFrame("a frame of length " + length);
        if (length > Frames.LONGEST) {
            skip(length);
            throw new MalformedFrame(
                    "a frame of " + length + " bytes, more than " + Frames.LONGEST);
        }
        try {
            byte[] frame = new byte[length];
            in.readFully(frame);
            return frame;
        } catch (EOFException end) {
            return null;
        } catch (OutOfMemoryError full) {
            skip(length);
            throw new MalformedFrame("no memory for a frame of " + length + " bytes");
        }
    }

    private void skip(int length) throws IOException {
        in.skipNBytes(length);
    }
}
