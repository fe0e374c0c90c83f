package snarl.compiler.state;

import snarl.compiler.shape.Difference;

import java.util.List;
import java.util.Map;

/**
 * What the parent is told after a request: every file that was compiled or has gone, and how long
 * it took.
 */
public record Answer(Timing timing, List<String> notes, List<OfModule> modules) {
    public record OfModule(String id, List<File> files) {}

    /**
     * @param dependent whether the file was compiled only because something it refers to has
     *     changed
     * @param changed by class name, what others see differently now
     */
    public record File(
            String path,
            Compiled compiled,
            boolean dependent,
            List<ClassFile> classes,
            Map<String, Difference> changed) {
        static File removed(String path, Map<String, Difference> changed) {
            return new File(path, Compiled.removed(), false, List.of(), changed);
        }
    }

    /**
     * @param known whether the parent has these bytes already
     */
    public record ClassFile(Compiled.ClassOutput output, boolean known) {}
}
