package snarl.compiler.wire;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the values of one frame's body, in order. Whatever the bytes are, it answers with values or
 * a {@link MalformedFrame}, and never reads past the end.
 */
public final class Decoder {
    /** Reads one element of a list. */
    public interface Element<T> {
        T read(Decoder in) throws MalformedFrame;
    }

    private final byte[] bytes;
    private int at;

    public Decoder(byte[] bytes, int from) {
        this.bytes = bytes;
        this.at = from;
    }

    public int u8() throws MalformedFrame {
        need(1);
        return bytes[at++] & 0xFF;
    }

    public boolean bool() throws MalformedFrame {
        int value = u8();
        if (value > 1) throw new MalformedFrame("a truth value is " + value + ", not 0 or 1");
        return value == 1;
    }

    public int i32() throws MalformedFrame {
        need(4);
        int value =
                (bytes[at] & 0xFF) << 24
                        | (bytes[at + 1] & 0xFF) << 16
                        | (bytes[at + 2] & 0xFF) << 8
                        | (bytes[at + 3] & 0xFF);
        at += 4;
        return value;
    }

    public String text() throws MalformedFrame {
        int length = length();
        need(length);
        String text = new String(bytes, at, length, StandardCharsets.UTF_8);
        at += length;
        return text;
    }

    public <T> List<T> list(Element<T> element) throws MalformedFrame {
        int count = length();
        // Every element has at least one byte, so a count beyond the rest is a lie that must not
        // cost memory.
        need(count);
        List<T> list = new ArrayList<>(count);
        for (int i = 0; i < count; i++) list.add(element.read(this));
        return list;
    }

    public void end() throws MalformedFrame {
        if (at != bytes.length) throw new MalformedFrame((bytes.length - at) + " bytes too many");
    }

    private int length() throws MalformedFrame {
        int length = i32();
        if (length < 0) throw new MalformedFrame("a length is " + length);
        return length;
    }

    private void need(int count) throws MalformedFrame {
        if (bytes.length - at < count)
            throw new MalformedFrame("ends " + (count - (bytes.length - at)) + " bytes too early");
    }
}
