package snarl.compiler.classpath;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A location all of whose names are known from the beginning. What fills the index is left to its
 * subclasses.
 */
public abstract class IndexedLocation extends Location {
    private final Map<String, TreeSet<String>> classes = new HashMap<>();
    private final Set<String> packages = new HashSet<>();

    protected final void add(String className) {
        int slash = className.lastIndexOf('/');
        String packageName = slash < 0 ? "" : className.substring(0, slash);
        TreeSet<String> names = classes.get(packageName);
        if (names == null) {
            classes.put(packageName, names = new TreeSet<>());
            for (String parent = packageName; !parent.isEmpty() && packages.add(parent); ) {
                parent = parent.substring(0, Math.max(0, parent.lastIndexOf('/')));
            }
        }
        names.add(className.substring(slash + 1));
    }

    @Override
    public boolean hasPackage(String packageName) {
        return packageName.isEmpty() || packages.contains(packageName);
    }

    @Override
    public boolean has(String className) {
        int slash = className.lastIndexOf('/');
        Set<String> names = classes.get(slash < 0 ? "" : className.substring(0, slash));
        return names != null && names.contains(className.substring(slash + 1));
    }

    /** The classes directly in a package. */
    final List<String> classesIn(String packageName) {
        return full(packageName, classes.getOrDefault(packageName, new TreeSet<>()));
    }

    /** The packages with classes that are this one or below it. */
    final List<String> packagesIn(String packageName) {
        return classes.keySet().stream()
                .filter(name -> name.equals(packageName) || name.startsWith(packageName + "/"))
                .toList();
    }

    /** The classes that by their names are inside this one. */
    final List<String> classesInside(String className) {
        int slash = className.lastIndexOf('/');
        String packageName = slash < 0 ? "" : className.substring(0, slash);
        TreeSet<String> names = classes.get(packageName);
        if (names == null) return List.of();
        String simple = className.substring(slash + 1);
        // '%' is the character behind '$'.
        return full(packageName, names.subSet(simple + "$", simple + "%"));
    }

    private static List<String> full(String packageName, Set<String> simple) {
        return simple.stream()
                .map(name -> packageName.isEmpty() ? name : packageName + "/" + name)
                .toList();
    }

    @Override
    public List<String> missingIn(Location other) {
        List<String> missing = new ArrayList<>();
        classes.forEach(
                (packageName, names) -> {
                    for (String name : full(packageName, names)) {
                        if (!other.has(name)) missing.add(name);
                    }
                });
        return missing;
    }
}
