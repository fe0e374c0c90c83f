package snarl.compiler.state;

import snarl.compiler.classpath.Location;
import snarl.compiler.shape.Origin;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Compares a class path entry as it was with what it has become. */
final class LocationChange {
    private final Location old;
    private final Location now;

    /** Those that were read and differ, and those that have come or gone. */
    private final Set<String> classes;

    LocationChange(Location old, Location now) {
        this.old = old;
        this.now = now;
        classes = new TreeSet<>(old.readDifferently(now));
        classes.addAll(old.missingIn(now));
        classes.addAll(now.missingIn(old));
    }

    /** The classes and packages that files of a module see differently. */
    List<TypeChange> seenBy(Module module) {
        Lookup lookup = new Lookup(module, Set.of());
        Set<String> packages = new TreeSet<>();
        List<TypeChange> changes = new ArrayList<>();
        for (String name : classes) {
            if (isHidden(name, lookup)) continue;
            changes.add(TypeChange.of(name));
            for (String parent : Packages.withParents(Names.packageOf(name).replace('/', '.'))) {
                String slashed = parent.replace('.', '/');
                if (old.hasPackage(slashed) != now.hasPackage(slashed)) packages.add(parent);
            }
        }
        packages.forEach(name -> changes.add(TypeChange.ofPackage(name)));
        return changes;
    }

    private boolean isHidden(String name, Lookup lookup) {
        if (lookup.isHidden(name)) return true;
        // One that was seen although a source has the say about a type around it has been read.
        return !now.has(name) && lookup.isInside(name) && !wasByItself(name);
    }

    private boolean wasByItself(String name) {
        Origin origin = old.made(name, Origin.class, Built::origin);
        return origin != null && !origin.nested();
    }
}
