package snarl.compiler.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes the values of one frame into memory, in order; knows nothing of what they mean. */
public final class Encoder {
    private byte[] bytes = new byte[1 << 12];
    private int size;

    /** Begins a frame: its length is filled in by {@link #finish}. */
    public Encoder(int kind) {
        i32(0);
        u8(kind);
    }

    public Encoder u8(int value) {
        room(1);
        bytes[size++] = (byte) value;
        return this;
    }

    public Encoder bool(boolean value) {
        return u8(value ? 1 : 0);
    }

    public Encoder i32(int value) {
        room(4);
        put(size, value);
        size += 4;
        return this;
    }

    public Encoder i64(long value) {
        return i32((int) (value >>> 32)).i32((int) value);
    }

    public Encoder text(String value) {
        return blob(value.getBytes(StandardCharsets.UTF_8));
    }

    public Encoder blob(byte[] value) {
        i32(value.length);
        room(value.length);
        System.arraycopy(value, 0, bytes, size, value.length);
        size += value.length;
        return this;
    }

    /** The whole frame, its length in front. */
    public byte[] finish() {
        put(0, size - 4);
        return Arrays.copyOf(bytes, size);
    }

    private void put(int at, int value) {
        bytes[at] = (byte) (value >>> 24);
        bytes[at + 1] = (byte) (value >>> 16);
        bytes[at + 2] = (byte) (value >>> 8);
        bytes[at + 3] = (byte) value;
    }

    private void room(int count) {
        long wanted = (long) size + count;
        if (wanted > Integer.MAX_VALUE - 16)
            throw new IllegalStateException("an answer of more than 2 GiB");
        if (wanted > bytes.length)
            bytes =
                    Arrays.copyOf(
                            bytes,
                            (int)
                                    Math.min(
                                            Integer.MAX_VALUE - 16,
                                            Math.max(wanted, 2L * bytes.length)));
    }
}
