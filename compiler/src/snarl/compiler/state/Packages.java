package snarl.compiler.state;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Counts how many files are in each package or below it, so that packages come and go with their
 * files.
 */
final class Packages {
    private final Map<String, Integer> counts = new HashMap<>();

    boolean has(String name) {
        return counts.containsKey(name);
    }

    /** Whether files other than these are in the package. */
    boolean hasBesides(Collection<Unit> files, String name) {
        int count = counts.getOrDefault(name, 0);
        if (count == 0) return false;
        for (Unit file : files) {
            String other = file.packageName();
            if (other.equals(name) || other.startsWith(name + ".")) count--;
        }
        return count > 0;
    }

    /** Moves a file from one package to another. */
    void move(String from, String to) {
        for (String name : withParents(to)) counts.merge(name, 1, Integer::sum);
        for (String name : withParents(from))
            counts.merge(name, -1, (count, less) -> count == 1 ? null : count - 1);
    }

    /** The package and those it is in; none for the unnamed one. */
    static List<String> withParents(String packageName) {
        List<String> names = new ArrayList<>();
        for (String name = packageName; !name.isEmpty(); name = parent(name)) names.add(name);
        return names;
    }

    private static String parent(String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('.')));
    }
}
