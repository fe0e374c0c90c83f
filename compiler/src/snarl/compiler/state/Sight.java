package snarl.compiler.state;

import snarl.compiler.shape.Difference;
import snarl.compiler.shape.Signature;
import snarl.compiler.state.Found.Live;
import snarl.compiler.state.Found.Read;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the files of a module see of some types and packages at one moment. Two of them tell what
 * has changed in between, whatever it was that happened.
 */
final class Sight {
    /**
     * @param signature null if there is no class
     * @param outline the text that is shown in its place, or empty
     */
    private record Seen(Signature signature, String outline) {}

    private final Map<String, Seen> classes = new HashMap<>();
    private final Set<String> packages = new HashSet<>();

    private Sight() {}

    /**
     * @param types top-level types; those inside them are looked at too
     * @param packages with dots
     */
    static Sight of(Module module, Set<String> types, Set<String> packages) {
        Lookup lookup = new Lookup(module, Set.of());
        Sight sight = new Sight();
        for (String type : types) {
            for (String name : lookup.classesOf(type)) {
                Signature signature = signature(module, lookup.find(name), name);
                String outline = name.equals(type) ? lookup.outline(type) : "";
                if (signature != null || !outline.isEmpty())
                    sight.classes.put(name, new Seen(signature, outline));
            }
        }
        for (String name : packages) {
            if (lookup.hasPackage(name)) sight.packages.add(name);
        }
        return sight;
    }

    /** All that is different later. */
    List<TypeChange> changesTo(Sight later) {
        List<TypeChange> changes = new ArrayList<>();
        classesThatDiffer(later)
                .forEach((name, difference) -> changes.add(TypeChange.of(name, difference)));
        Set<String> comeOrGone = new TreeSet<>(packages);
        comeOrGone.addAll(later.packages);
        comeOrGone.removeIf(name -> packages.contains(name) && later.packages.contains(name));
        comeOrGone.forEach(name -> changes.add(TypeChange.ofPackage(name)));
        return changes;
    }

    /** By the names of classes, what is different of them later. */
    Map<String, Difference> classesThatDiffer(Sight later) {
        Map<String, Difference> changed = new TreeMap<>();
        Set<String> names = new TreeSet<>(classes.keySet());
        names.addAll(later.classes.keySet());
        for (String name : names) {
            Seen old = classes.getOrDefault(name, new Seen(null, ""));
            Seen now = later.classes.getOrDefault(name, new Seen(null, ""));
            Difference difference = Signature.between(old.signature, now.signature);
            if (!old.outline.equals(now.outline))
                difference = new Difference(true, difference.members());
            if (!difference.isNone()) changed.put(name, difference);
        }
        return changed;
    }

    private static Signature signature(Module module, Found found, String className) {
        if (found instanceof Live live) return live.offered().signature();
        return found instanceof Read ? module.built().signature(className) : null;
    }
}
