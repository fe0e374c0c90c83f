package snarl.compiler.state;

import snarl.compiler.wire.Request.FileText;
import snarl.compiler.wire.Request.ModuleConfig;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Gets the texts of a module's files, from its roots, from single files, and from buffers. */
final class Sources {
    private Sources() {}

    /**
     * All files that the configuration names, by path. Buffers and single files count before what
     * is below roots.
     */
    static Map<String, SourceText> of(ModuleConfig config, Consumer<String> note) throws Refused {
        Map<String, SourceText> texts = new TreeMap<>();
        for (String root : config.sourceRoots()) {
            for (String path : below(root, note))
                texts.put(path, text(new FileText(path, null), config));
        }
        for (FileText file : config.files()) texts.put(file.path(), text(file, config));
        return texts;
    }

    static SourceText text(FileText file, ModuleConfig config) throws Refused {
        return file.text() == null
                ? SourceText.read(file.path(), charset(config))
                : SourceText.of(file.text());
    }

    static Charset charset(ModuleConfig config) throws Refused {
        if (config.encoding().isEmpty()) return StandardCharsets.UTF_8;
        try {
            return Charset.forName(config.encoding());
        } catch (IllegalArgumentException unknown) {
            throw new Refused(
                    "module " + config.id() + ": there is no encoding " + config.encoding());
        }
    }

    private static List<String> below(String root, Consumer<String> note) {
        try (Stream<Path> files = Files.walk(Path.of(root))) {
            return files.filter(
                            file -> file.toString().endsWith(".java") && Files.isRegularFile(file))
                    .map(Path::toString)
                    .toList();
        } catch (IOException | RuntimeException gone) {
            note.accept("source root " + root + " cannot be read: " + gone);
            return List.of();
        }
    }
}
