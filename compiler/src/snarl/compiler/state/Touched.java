package snarl.compiler.state;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What others may see differently when files change: by file, the top-level types that it declares
 * or has declared or that a build has made from it; and the packages these are in.
 */
final class Touched {
    private final Map<String, Set<String>> types = new TreeMap<>();
    private final Set<String> packages = new HashSet<>();

    private Touched() {}

    /** By the results of a compiler. */
    static Touched by(Module module, Map<Unit, Compiled> results) {
        Touched touched = new Touched();
        results.forEach(
                (unit, result) -> {
                    touched.add(module, unit);
                    touched.add(module, unit, result);
                });
        return touched;
    }

    /** By taking a file away. */
    static Touched by(Module module, Unit removed) {
        Touched touched = new Touched();
        touched.add(module, removed);
        return touched;
    }

    /** By path. */
    Map<String, Set<String>> types() {
        return types;
    }

    Sight seenBy(Module observer) {
        Set<String> all = new TreeSet<>();
        types.values().forEach(all::addAll);
        return Sight.of(observer, all, packages);
    }

    private void add(Module module, Unit unit) {
        add(module, unit, unit.says(), unit.origins());
        packages.addAll(Packages.withParents(unit.packageName()));
    }

    private void add(Module module, Unit unit, Compiled result) {
        if (result.status() != Compiled.Status.COMPILED) return;
        add(
                module,
                unit,
                result.types(),
                module.built().origins(unit.path(), result.packageName()));
        packages.addAll(Packages.withParents(result.packageName()));
    }

    private void add(Module module, Unit unit, Set<String> declared, Set<String> origins) {
        Set<String> own = types.computeIfAbsent(unit.path(), none -> new TreeSet<>());
        own.addAll(declared);
        for (String origin : origins) {
            own.addAll(module.built().typesFrom(origin));
            packages.addAll(Packages.withParents(Names.packageOf(origin).replace('/', '.')));
        }
    }
}
