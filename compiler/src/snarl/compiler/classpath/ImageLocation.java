package snarl.compiler.classpath;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * All types of a JDK since Java 9, from its run-time image. Packages are listed when somebody first
 * asks for them; the image is too large to be listed at the start, and does not change while it is
 * open.
 */
final class ImageLocation extends Location {
    private final FileSystem image;

    /** Per package: simple name of a class, and the module that has it. */
    private final Map<String, Map<String, String>> packages = new HashMap<>();

    ImageLocation(FileSystem image) throws IOException {
        this.image = image;
        if (!has("java/lang/Object"))
            throw new NoSuchFileException("java.lang.Object in the image");
    }

    @Override
    public boolean hasPackage(String packageName) {
        return packageName.isEmpty() || classes(packageName) != null;
    }

    @Override
    public boolean has(String className) {
        return module(className) != null;
    }

    @Override
    protected byte[] load(String className) throws IOException {
        return Files.readAllBytes(
                image.getPath("/modules", module(className), className + ".class"));
    }

    @Override
    public List<String> missingIn(Location other) {
        return List.of();
    }

    private String module(String className) {
        int slash = className.lastIndexOf('/');
        if (slash < 0) return null;
        Map<String, String> classes = classes(className.substring(0, slash));
        return classes == null ? null : classes.get(className.substring(slash + 1));
    }

    /** Null if there is no such package. */
    private Map<String, String> classes(String packageName) {
        if (packages.containsKey(packageName)) return packages.get(packageName);
        Map<String, String> classes = list(packageName);
        packages.put(packageName, classes);
        return classes;
    }

    private Map<String, String> list(String packageName) {
        Path links = image.getPath("/packages", packageName.replace('/', '.'));
        if (!Files.isDirectory(links)) return null;
        Map<String, String> classes = new TreeMap<>();
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(links)) {
            for (Path module : modules) {
                String name = module.getFileName().toString();
                Path directory = image.getPath("/modules", name, packageName);
                if (!Files.isDirectory(directory)) continue;
                try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
                    for (Path file : files) {
                        String simple = file.getFileName().toString();
                        if (simple.endsWith(".class"))
                            classes.putIfAbsent(
                                    simple.substring(0, simple.length() - ".class".length()), name);
                    }
                }
            }
        } catch (IOException unreadable) {
            return classes;
        }
        return classes;
    }
}
