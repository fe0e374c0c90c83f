package snarl.compiler.classpath;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/**
 * The class files below a directory, as it was when it was opened; what has gone since then reads
 * as nothing.
 */
final class DirectoryLocation extends IndexedLocation {
    private final Path root;

    DirectoryLocation(Path root) throws IOException {
        this.root = root;
        Files.walkFileTree(
                root,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        String name =
                                root.relativize(file)
                                        .toString()
                                        .replace(file.getFileSystem().getSeparator(), "/");
                        if (name.endsWith(".class") && !name.equals("module-info.class")) {
                            add(name.substring(0, name.length() - ".class".length()));
                        }
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException gone) {
                        return FileVisitResult.CONTINUE; // a build may be clearing the directory
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path directory, IOException gone) {
                        return FileVisitResult.CONTINUE;
                    }
                });
    }

    @Override
    protected byte[] load(String className) throws IOException {
        return Files.readAllBytes(root.resolve(className + ".class"));
    }
}
