package snarl.compiler.state;

import snarl.compiler.shape.Origin;
import snarl.compiler.shape.Signature;

import java.util.function.BiFunction;

/** A class of a source file as other files see it, with what was made of its bytes. */
public final class OfferedClass {
    private final String name;
    private final byte[] bytes;
    private Signature signature;
    private Object parsed;

    OfferedClass(String name, byte[] bytes) {
        this.name = name;
        this.bytes = bytes;
    }

    public String name() {
        return name;
    }

    public byte[] bytes() {
        return bytes;
    }

    Signature signature() {
        if (signature == null) signature = Signature.of(bytes);
        return signature;
    }

    Origin origin() {
        return Origin.of(bytes);
    }

    /** What the session's compiler makes of the bytes; asked once. */
    @SuppressWarnings("unchecked")
    public <T> T parsed(BiFunction<String, byte[], T> parse) {
        if (parsed == null) parsed = parse.apply(name, bytes);
        return (T) parsed;
    }
}
