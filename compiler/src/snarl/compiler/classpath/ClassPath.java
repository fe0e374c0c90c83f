package snarl.compiler.classpath;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The locations of one module in the order in which they are asked: the JDK first, as the virtual
 * machine does.
 */
public final class ClassPath {
    private final List<Location> locations;
    private final Map<String, List<Location>> byPackage = new HashMap<>();

    public ClassPath(List<Location> locations) {
        this.locations = List.copyOf(locations);
    }

    /** The location that has the class, or null. */
    public Location find(String className) {
        int slash = className.lastIndexOf('/');
        for (Location location : with(slash < 0 ? "" : className.substring(0, slash))) {
            if (location.has(className)) return location;
        }
        return null;
    }

    public boolean hasPackage(String packageName) {
        return !with(packageName).isEmpty();
    }

    public boolean uses(Location location) {
        return locations.contains(location);
    }

    /** The locations that have the package, or one below it. */
    private List<Location> with(String packageName) {
        List<Location> known = byPackage.get(packageName);
        if (known == null) {
            known = new ArrayList<>();
            for (Location location : locations) {
                if (location.hasPackage(packageName)) known.add(location);
            }
            byPackage.put(packageName, known = known.isEmpty() ? Collections.emptyList() : known);
        }
        return known;
    }
}
