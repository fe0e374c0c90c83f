package snarl.compiler.state;

import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * A compiler. One is chosen when the process starts, and all classes of the session come from it.
 */
public interface Backend {
    String name();

    String version();

    int newestLevel();

    /**
     * Compiles the files together, in this order, against everything else in the module as it was
     * last compiled. Answers a result for each of them, and perhaps for others that had to be
     * compiled with them. Whatever is in the files, it answers: an error of the compiler itself is
     * a failed result.
     */
    Map<Unit, Compiled> compile(
            Module module, List<Unit> files, Timing timing, BooleanSupplier cancelled)
            throws Cancelled;
}
