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
abstract class IndexedLocation extends Location {
    private final Map<String, Set<String>> classes = new HashMap<>();
    private final Set<String> packages = new HashSet<>();

    protected final void add(String className) {
        int slash = className.lastIndexOf('/');
        String packageName = slash < 0 ? "" : className.substring(0, slash);
        Set<String> names = classes.get(packageName);
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

    @Override
    public List<String> missingIn(Location other) {
        List<String> missing = new ArrayList<>();
        classes.forEach(
                (packageName, names) -> {
                    for (String simple : names) {
                        String name = packageName.isEmpty() ? simple : packageName + "/" + simple;
                        if (!other.has(name)) missing.add(name);
                    }
                });
        return missing;
    }
}
