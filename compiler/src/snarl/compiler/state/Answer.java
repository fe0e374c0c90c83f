package snarl.compiler.state;

import java.util.List;

/**
 * What the parent is told after a request: every file that was compiled or has gone, and how long
 * it took.
 */
public record Answer(Timing timing, List<String> notes, List<OfModule> modules) {
    public record OfModule(String id, List<File> files) {}

    /**
     * @param dependent whether the file was compiled only because something it refers to has
     *     changed
     */
    public record File(String path, Compiled compiled, boolean dependent, List<ClassFile> classes) {
        static File removed(String path) {
            return new File(path, Compiled.removed(), false, List.of());
        }
    }

    /**
     * @param known whether the parent has these bytes already
     */
    public record ClassFile(Compiled.ClassOutput output, boolean known) {}
}
