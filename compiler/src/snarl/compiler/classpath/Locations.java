package snarl.compiler.classpath;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Opens class path entries and JDKs, each only once however many modules use it. What cannot be
 * opened is noted and counts as empty.
 */
public final class Locations {
    private interface Opener {
        Location open() throws IOException;
    }

    private final Map<String, Location> open = new HashMap<>();

    public IndexedLocation entry(String path, Consumer<String> note) {
        Location opened =
                open(
                        path,
                        "class path entry " + path,
                        note,
                        () -> {
                            Path file = Path.of(path);
                            return Files.isDirectory(file)
                                    ? new DirectoryLocation(file)
                                    : new JarLocation(file.toFile());
                        });
        return (IndexedLocation) opened;
    }

    /** The types of the JDK in this home; only the API of the release if that is not 0. */
    public Location jdk(String home, int release, Consumer<String> note) {
        String real = home.isEmpty() ? System.getProperty("java.home") : home;
        if (release != 0) {
            File symbols = new File(real, "lib/ct.sym");
            // The home's own version is not in there: its image is the answer then.
            if (symbols.isFile()) {
                Location symbolLocation =
                        open(
                                real + "!" + release,
                                null,
                                note,
                                () -> new SymbolLocation(symbols, release));
                if (!(symbolLocation instanceof NoLocation)) return symbolLocation;
            }
        }
        return open(real + "!", "Java home " + real, note, () -> jdk(real));
    }

    /**
     * Opens the entry anew, if it is open, and answers the old and the new one; null if nobody has
     * used it.
     */
    public List<Location> reopen(String path, Consumer<String> note) {
        Location old = open.remove(path);
        return old == null ? null : List.of(old, entry(path, note));
    }

    private Location open(String key, String what, Consumer<String> note, Opener opener) {
        Location known = open.get(key);
        if (known != null) return known;
        Location opened;
        try {
            opened = opener.open();
        } catch (IOException | RuntimeException | OutOfMemoryError unreadable) {
            if (what != null) note.accept(what + " cannot be read: " + unreadable);
            opened = new NoLocation();
        }
        open.put(key, opened);
        return opened;
    }

    private static Location jdk(String home) throws IOException {
        for (String runtime : List.of("lib/rt.jar", "jre/lib/rt.jar")) {
            File file = new File(home, runtime);
            if (file.isFile()) return new JarLocation(file);
        }
        return new ImageLocation(image(home));
    }

    private static FileSystem image(String home) throws IOException {
        URI uri = URI.create("jrt:/");
        boolean own = Files.isSameFile(Path.of(home), Path.of(System.getProperty("java.home")));
        return own
                ? FileSystems.getFileSystem(uri)
                : FileSystems.newFileSystem(uri, Map.of("java.home", home));
    }
}
