package snarl.compiler.state;

/** The work was given up on request; what it has not finished is still marked as to be done. */
public final class Cancelled extends Exception {
    private static final long serialVersionUID = 1;
}
