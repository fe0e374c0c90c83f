package snarl.compiler.state;

import snarl.compiler.classpath.ClassPath;
import snarl.compiler.classpath.Location;
import snarl.compiler.shape.Origin;
import snarl.compiler.shape.Signature;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The classes on a module's class path as what a build has made of sources: from which file they
 * come, and what others see of them. Those of the JDK do not count.
 */
final class Built {
    private final ClassPath classPath;

    /** By package: the top-level types of every source file. */
    private final Map<String, Map<String, Set<String>>> types = new HashMap<>();

    Built(ClassPath classPath) {
        this.classPath = classPath;
    }

    boolean has(String className) {
        return classPath.findEntry(className) != null;
    }

    /** What others see of the class; null if there is none. */
    Signature signature(String className) {
        Location location = classPath.findEntry(className);
        return location == null
                ? null
                : location.made(className, Signature.class, (name, bytes) -> read(bytes));
    }

    /** The source file of the class, as {@link Names#origin} writes it; empty if unknown. */
    String source(String className) {
        Origin origin = origin(className);
        return origin == null || origin.sourceFile().isEmpty()
                ? ""
                : Names.origin(Names.packageOf(className), origin.sourceFile());
    }

    boolean isNested(String className) {
        Origin origin = origin(className);
        return origin != null && origin.nested();
    }

    /** Classes that by their names are inside this one. */
    Set<String> inside(String className) {
        return classPath.classesInside(className);
    }

    /** The top-level types that were made from a source file. */
    Set<String> typesFrom(String origin) {
        return types.computeIfAbsent(Names.packageOf(origin), this::bySource)
                .getOrDefault(origin, Set.of());
    }

    /**
     * What classes made from a file say of their source. That is its package and name; but if there
     * are classes that fit its place better, its package is new.
     *
     * @param packageName with dots
     */
    Set<String> origins(String path, String packageName) {
        String own = Names.origin(packageName.replace('.', '/'), path);
        Set<String> origins = new TreeSet<>(Set.of(own));
        String place = path.replace('\\', '/');
        boolean fits = !packageName.isEmpty() && ("/" + place).endsWith("/" + own);
        for (int at = 0; place.indexOf('/', at) >= 0; at = place.indexOf('/', at) + 1) {
            String other = place.substring(at);
            if (fits && other.length() <= own.length()) break;
            if (typesFrom(other).isEmpty()) continue;
            origins.add(other);
            break;
        }
        return origins;
    }

    private Map<String, Set<String>> bySource(String packageName) {
        Map<String, Set<String>> found = new HashMap<>();
        Set<String> all = classPath.classesIn(packageName);
        for (String name : all) {
            List<String> around = Names.around(name);
            if (!around.isEmpty() && all.contains(around.get(0))) continue; // goes with that
            found.computeIfAbsent(source(name), none -> new TreeSet<>()).add(name);
        }
        return found;
    }

    private Origin origin(String className) {
        Location location = classPath.findEntry(className);
        return location == null ? null : location.made(className, Origin.class, Built::origin);
    }

    /** Null for bytes that are no class file, as in jars that are half written. */
    static Origin origin(String className, byte[] bytes) {
        try {
            return Origin.of(bytes);
        } catch (RuntimeException broken) {
            return null;
        }
    }

    private static Signature read(byte[] bytes) {
        try {
            return Signature.of(bytes);
        } catch (RuntimeException broken) {
            return null;
        }
    }
}
