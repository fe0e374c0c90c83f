package snarl.compiler.wire;

/**
 * The numbers of the protocol: what a frame may be, and how large. What the frames mean is written
 * in PROTOCOL.md; this file is its machine-readable half.
 */
public final class Frames {
    public static final int MAGIC = 0x534E524C; // "SNRL"
    public static final int VERSION = 2;

    /** A frame longer than this is not read but skipped. */
    public static final int LONGEST = 1 << 29;

    public static final int HELLO = 0x01;
    public static final int CONFIGURE = 0x02;
    public static final int CHANGE = 0x03;
    public static final int CANCEL = 0x04;
    public static final int PING = 0x05;
    public static final int SHUTDOWN = 0x06;

    public static final int WELCOME = 0x81;
    public static final int ANSWER = 0x82;
    public static final int SUPERSEDED = 0x83;
    public static final int ERROR = 0x84;
    public static final int PONG = 0x85;
    public static final int BYE = 0x86;

    /** The request number of errors and such that belong to no request. */
    public static final int NO_REQUEST = -1;

    private Frames() {}
}
