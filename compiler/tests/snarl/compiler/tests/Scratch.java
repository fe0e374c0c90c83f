package snarl.compiler.tests;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A directory for one test, which goes with it. */
final class Scratch implements AutoCloseable {
    final Path root;

    Scratch() throws IOException {
        root = Files.createTempDirectory("snarl-compiler");
    }

    String write(String path, String text) throws IOException {
        return write(path, text, StandardCharsets.UTF_8);
    }

    String write(String path, String text, Charset charset) throws IOException {
        return write(path, text.getBytes(charset));
    }

    String write(String path, byte[] bytes) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.write(file, bytes);
        return file.toString();
    }

    void delete(String path) throws IOException {
        try (Stream<Path> files = Files.walk(root.resolve(path))) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(
                            file -> {
                                try {
                                    Files.delete(file);
                                } catch (IOException undeletable) {
                                    throw new UncheckedIOException(undeletable);
                                }
                            });
        }
    }

    @Override
    public void close() throws IOException {
        delete("");
    }
}
