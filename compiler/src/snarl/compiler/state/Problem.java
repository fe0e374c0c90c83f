package snarl.compiler.state;

/**
 * One message of a compiler. Lines and columns begin at 1, columns count UTF-16 units, and the end
 * column is the one behind the last character; all are 0 where the message has no place.
 */
public record Problem(
        int severity, int line, int column, int endLine, int endColumn, int id, String message) {
    public static final int ERROR = 0;
    public static final int WARNING = 1;

    public static Problem nowhere(String message) {
        return new Problem(ERROR, 0, 0, 0, 0, 0, message);
    }
}
