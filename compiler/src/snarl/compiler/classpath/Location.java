package snarl.compiler.classpath;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.zip.CRC32;

/**
 * A place with class files: a jar, a directory, the types of a JDK. It knows which classes are
 * there, reads them, and keeps what was made of those that were read. It never looks for changes:
 * when the place has changed, a new Location is opened and compared with the old one.
 *
 * <p>Names are internal names ({@code java/util/Map$Entry}), packages are written with slashes too.
 */
public abstract class Location implements Closeable {
    private static final Object NOTHING = new Object();

    /** By kind and then by name. */
    private final Map<Class<?>, Map<String, Object>> made = new HashMap<>();

    private final Map<String, Long> checksums = new HashMap<>();

    /** Whether there is such a package, or one below it. */
    public abstract boolean hasPackage(String packageName);

    public abstract boolean has(String className);

    protected abstract byte[] load(String className) throws IOException;

    /** The class file, or null if there is none or it cannot be read. */
    public byte[] read(String className) {
        if (!has(className)) return null;
        byte[] bytes;
        try {
            bytes = load(className);
        } catch (IOException | RuntimeException gone) {
            bytes = null;
        }
        checksums.put(className, checksum(bytes));
        return bytes;
    }

    /**
     * What the function makes of the class file; remembered, also that there is nothing. The kind
     * stands for the function: what one has made is answered to all who ask for the kind.
     */
    public <T> T made(String className, Class<T> kind, BiFunction<String, byte[], T> make) {
        Map<String, Object> known = made.computeIfAbsent(kind, none -> new HashMap<>());
        Object one = known.get(className);
        if (one == null) {
            byte[] bytes = read(className);
            T result = bytes == null ? null : make.apply(className, bytes);
            one = result == null ? NOTHING : result;
            known.put(className, one);
        }
        return one == NOTHING ? null : kind.cast(one);
    }

    /** Names of the classes that were read here and are not the same there. */
    public List<String> readDifferently(Location other) {
        List<String> names = new ArrayList<>();
        checksums.forEach(
                (name, checksum) -> {
                    byte[] bytes = other.read(name);
                    if (checksum != checksum(bytes)) names.add(name);
                });
        return names;
    }

    /** Names of the classes that are here and not there. */
    public abstract List<String> missingIn(Location other);

    @Override
    public void close() throws IOException {}

    private static long checksum(byte[] bytes) {
        if (bytes == null) return -1;
        CRC32 crc = new CRC32();
        crc.update(bytes);
        return crc.getValue();
    }
}
