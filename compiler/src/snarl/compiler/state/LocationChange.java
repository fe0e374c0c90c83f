package snarl.compiler.state;

import snarl.compiler.classpath.Location;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Compares a class path entry as it was with what it has become. */
final class LocationChange {
    private LocationChange() {}

    /**
     * Classes that were read and differ, classes that have come or gone, and packages with them.
     */
    static List<TypeChange> between(Location old, Location now) {
        Set<String> classes = new TreeSet<>(old.readDifferently(now));
        classes.addAll(old.missingIn(now));
        classes.addAll(now.missingIn(old));
        Set<String> packages = new TreeSet<>();
        List<TypeChange> changes = new ArrayList<>();
        for (String name : classes) {
            changes.add(TypeChange.of(name, null));
            for (String parent = parent(name); !parent.isEmpty(); parent = parent(parent)) {
                if (old.hasPackage(parent) != now.hasPackage(parent))
                    packages.add(parent.replace('/', '.'));
            }
        }
        packages.forEach(name -> changes.add(TypeChange.ofPackage(name)));
        return changes;
    }

    private static String parent(String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('/')));
    }
}
