package snarl.compiler.classpath;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The locations of one module in the order in which they are asked: the JDK first, as the virtual
 * machine does, then the entries.
 */
public final class ClassPath {
    private final Location jdk;
    private final List<IndexedLocation> entries;
    private final Map<String, List<Location>> byPackage = new HashMap<>();

    public ClassPath(Location jdk, List<IndexedLocation> entries) {
        this.jdk = jdk;
        this.entries = List.copyOf(entries);
    }

    /** The location that has the class, or null. */
    public Location find(String className) {
        for (Location location : with(packageOf(className))) {
            if (location.has(className)) return location;
        }
        return null;
    }

    /** The entry that has the class, or null; also null for what the JDK has. */
    public Location findEntry(String className) {
        Location location = find(className);
        return location == jdk ? null : location;
    }

    public boolean isJdk(Location location) {
        return location == jdk;
    }

    /** Whether the JDK has the package, or one below it. */
    public boolean jdkHasPackage(String packageName) {
        return jdk.hasPackage(packageName);
    }

    /** Whether an entry has the package, or one below it. */
    public boolean entriesHavePackage(String packageName) {
        return entries.stream().anyMatch(entry -> entry.hasPackage(packageName));
    }

    /** All classes directly in a package, without those of the JDK. */
    public Set<String> classesIn(String packageName) {
        Set<String> names = new TreeSet<>();
        for (IndexedLocation entry : entries) names.addAll(entry.classesIn(packageName));
        return names;
    }

    /** The packages with classes that are this one or below it, without those of the JDK. */
    public Set<String> packagesIn(String packageName) {
        Set<String> names = new TreeSet<>();
        for (IndexedLocation entry : entries) names.addAll(entry.packagesIn(packageName));
        return names;
    }

    /** Classes that by their names are inside this one, without those of the JDK. */
    public Set<String> classesInside(String className) {
        Set<String> names = new TreeSet<>();
        for (IndexedLocation entry : entries) names.addAll(entry.classesInside(className));
        return names;
    }

    public boolean uses(Location location) {
        return location == jdk || entries.contains(location);
    }

    /** The locations that have the package, or one below it. */
    private List<Location> with(String packageName) {
        List<Location> known = byPackage.get(packageName);
        if (known == null) {
            known = new ArrayList<>();
            if (jdk.hasPackage(packageName)) known.add(jdk);
            for (Location location : entries) {
                if (location.hasPackage(packageName)) known.add(location);
            }
            byPackage.put(packageName, known = known.isEmpty() ? Collections.emptyList() : known);
        }
        return known;
    }

    private static String packageOf(String className) {
        return className.substring(0, Math.max(0, className.lastIndexOf('/')));
    }
}
