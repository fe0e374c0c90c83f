package snarl.compiler.state;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

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

    /** Moves a file from one package to another, and answers what has come or gone by that. */
    Set<String> move(String from, String to) {
        if (from.equals(to)) return Set.of();
        Set<String> changed = new TreeSet<>();
        for (String name = to; !name.isEmpty(); name = parent(name)) {
            if (counts.merge(name, 1, Integer::sum) == 1) changed.add(name);
        }
        for (String name = from; !name.isEmpty(); name = parent(name)) {
            if (counts.merge(name, -1, (count, less) -> count == 1 ? null : count - 1) == null) {
                if (!changed.remove(name)) changed.add(name);
            }
        }
        return changed;
    }

    private static String parent(String name) {
        return name.substring(0, Math.max(0, name.lastIndexOf('.')));
    }
}
