package snarl.compiler.state;

/** A request that makes no sense in the state the workspace is in; nothing of it was done. */
public final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    public Refused(String message) {
        super(message);
    }
}
