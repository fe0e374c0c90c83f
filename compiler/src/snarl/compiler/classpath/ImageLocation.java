package snarl.compiler.classpath;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * All types of a JDK since Java 9, from its run-time image. It is asked for every name when
 * somebody first asks for it; the image is too large to be listed, and does not change while it is
 * open.
 */
final class ImageLocation extends Location {
    private final FileSystem image;

    private final Map<String, Boolean> known = new HashMap<>();

    /** The directories that have classes of a package, one per module; mostly one, or none. */
    private final Map<String, List<Path>> packages = new HashMap<>();

    /** Where a class is; a package has many that are asked for and are not there. */
    private final Map<String, Optional<Path>> classes = new HashMap<>();

    ImageLocation(FileSystem image) throws IOException {
        this.image = image;
        if (!has("java/lang/Object"))
            throw new NoSuchFileException("java.lang.Object in the image");
    }

    /** Also one that only has others in it. */
    @Override
    public boolean hasPackage(String packageName) {
        return packageName.isEmpty()
                || known.computeIfAbsent(packageName, name -> Files.isDirectory(links(name)));
    }

    @Override
    public boolean has(String className) {
        return find(className).isPresent();
    }

    @Override
    protected byte[] load(String className) throws IOException {
        return Files.readAllBytes(find(className).orElseThrow());
    }

    @Override
    public List<String> missingIn(Location other) {
        return List.of();
    }

    private Optional<Path> find(String className) {
        Optional<Path> place = classes.get(className);
        if (place == null) {
            int slash = className.lastIndexOf('/');
            place =
                    slash < 0
                            ? Optional.empty()
                            : find(
                                    className.substring(0, slash),
                                    className.substring(slash + 1) + ".class");
            classes.put(className, place);
        }
        return place;
    }

    private Optional<Path> find(String packageName, String file) {
        List<Path> directories = packages.get(packageName);
        if (directories == null) packages.put(packageName, directories = directories(packageName));
        for (Path directory : directories) {
            Path found = directory.resolve(file);
            if (Files.isRegularFile(found)) return Optional.of(found);
        }
        return Optional.empty();
    }

    private List<Path> directories(String packageName) {
        List<Path> found = new ArrayList<>();
        if (!hasPackage(packageName)) return found;
        try (DirectoryStream<Path> modules = Files.newDirectoryStream(links(packageName))) {
            for (Path module : modules) {
                String name = module.getFileName().toString();
                Path directory = image.getPath("/modules", name, packageName);
                if (Files.isDirectory(directory)) found.add(directory);
            }
        } catch (IOException unreadable) {
            return found;
        }
        return found;
    }

    private Path links(String packageName) {
        return image.getPath("/packages", packageName.replace('/', '.'));
    }
}
