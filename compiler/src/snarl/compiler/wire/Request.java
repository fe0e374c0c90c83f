package snarl.compiler.wire;

import java.util.List;

/** What the parent asks. Plain data; {@link Requests} reads it from frames. */
public sealed interface Request {
    record Hello(int magic, int version) implements Request {}

    record Ping(int token) implements Request {}

    record Shutdown() implements Request {}

    /** Gives up the work for this request; its changes stay and are part of the next one. */
    record Cancel(int number) implements Request {}

    /** A request that changes modules and wants a compile answer. */
    sealed interface Work extends Request {
        int number();
    }

    record Configure(int number, List<ModuleConfig> modules) implements Work {}

    record Change(int number, List<ModuleChange> modules) implements Work {}

    /**
     * All that is said about a module when it is configured.
     *
     * @param javaHome the JDK whose types are seen; empty for the one that runs this
     * @param release if not 0, only the documented API of this Java version is seen
     * @param level the language level of the sources
     * @param hold whether files with syntax errors go on offering their last good classes to others
     */
    record ModuleConfig(
            String id,
            String javaHome,
            int release,
            int level,
            boolean preview,
            String encoding,
            boolean hold,
            List<String> dependsOn,
            List<String> classPath,
            List<String> sourceRoots,
            List<FileText> files) {}

    /** A source file; its text is null where it is to be read from disk. */
    record FileText(String path, String text) {}

    record ModuleChange(String module, List<Edit> edits) {}

    sealed interface Edit {}

    /** A new or changed file; its text is null where it is to be read from disk. */
    record Replace(FileText file) implements Edit {}

    record Remove(String path) implements Edit {}

    /** A jar or directory of the class path has other contents now. */
    record ClassPathChanged(String path) implements Edit {}

    record DropModule() implements Edit {}
}
