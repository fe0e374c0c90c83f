package snarl.compiler.wire;

/** A frame that does not follow the protocol. The stream goes on behind it. */
public final class MalformedFrame extends Exception {
    private static final long serialVersionUID = 1;

    public MalformedFrame(String message) {
        super(message);
    }
}
