import java.io.CharArrayWriter;
import java.io.StringWriter;

/** A model calls methods that share one model and return different types. */
class ResultTypes {
    static Object append(Object to) {
        return null;
    }

    static Object result;

    public static void main(String[] args) {
        Object writer = args.length == 0 ? new StringWriter() : new CharArrayWriter();
        result = append(writer);
    }
}
