package snarl.compiler.state;

import snarl.compiler.classpath.Location;
import snarl.compiler.state.Found.Live;
import snarl.compiler.state.Found.Read;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * Answers what the files of a module see under a name, perhaps during one run of a compiler: the
 * module's other files, the modules it depends on, the JDK, the class path, in this order.
 *
 * <p>Where a source has the say about a type, the classes that a build has made of earlier texts
 * are not seen: neither those inside the type, nor others that come from that file.
 */
public final class Lookup {
    private final Module module;

    /** What the compiler has as source, so that it is not answered here. */
    private final Set<Unit> run;

    /** Those of the run whose new text is known, and what they have the say about. */
    private final Set<Unit> parsed = new HashSet<>();

    private final Set<String> types = new HashSet<>();
    private final Set<String> origins = new HashSet<>();
    private final Packages packages = new Packages();

    /**
     * @param run the files that are compiled; may grow
     */
    public Lookup(Module module, Set<Unit> run) {
        this.module = module;
        this.run = run;
    }

    /**
     * A file of the run has these top-level types in its new text, whatever it had before.
     *
     * @param packageName with dots
     */
    public void declares(Unit unit, String packageName, Collection<String> declared) {
        if (!parsed.add(unit)) return;
        types.addAll(declared);
        for (String origin : module.built().origins(unit.path(), packageName)) {
            origins.add(origin);
            packages.move("", Names.packageOf(origin).replace('/', '.'));
        }
    }

    /** Null if there is nothing, or if the compiler has it already. */
    public Found find(String className) {
        Unit owner = module.owner(className);
        if (owner != null && !run.contains(owner))
            return new Live(owner, owner.offered().get(className));
        if (hasSay(className)) return null;
        boolean inside = Names.around(className).stream().anyMatch(this::hasSay);
        for (Module dependency : module.dependencies()) {
            OfferedClass offered = dependency.offered(className);
            if (offered != null)
                return inside && offered.origin().nested()
                        ? null
                        : new Live(dependency.owner(className), offered);
            if (dependency.hasSay(className)) return null;
            inside |= Names.around(className).stream().anyMatch(dependency::hasSay);
        }
        Location location = module.classPath().find(className);
        if (location == null) return null;
        boolean former = !module.classPath().isJdk(location) && isFormer(className, inside);
        return former ? null : new Read(location);
    }

    /** Whether a class of the class path must not be seen, since a source has the say. */
    public boolean isHidden(String className) {
        return anyHasSay(className) || isFormer(className, isInside(className));
    }

    /** Whether by its name the class is inside a type that a source has the say about. */
    boolean isInside(String className) {
        return Names.around(className).stream().anyMatch(this::anyHasSay);
    }

    /**
     * Whether there is such a package, or one below it, besides those the compiler has itself.
     *
     * @param name with dots
     */
    public boolean hasPackage(String name) {
        if (module.hasPackageBesides(run, name)) return true;
        for (Module dependency : module.dependencies()) {
            if (dependency.hasPackage(name)) return true;
        }
        String slashed = name.replace('.', '/');
        if (module.classPath().jdkHasPackage(slashed)) return true;
        if (!module.classPath().entriesHavePackage(slashed)) return false;
        if (!mayHaveFormer(name)) return true;
        for (String one : module.classPath().packagesIn(slashed)) {
            for (String className : module.classPath().classesIn(one)) {
                if (!isHidden(className)) return true;
            }
        }
        return false;
    }

    /** The type and all that by their names are inside it, whether they are seen or not. */
    Set<String> classesOf(String type) {
        Set<String> names = new TreeSet<>(module.offeredInside(type));
        for (Module dependency : module.dependencies())
            names.addAll(dependency.offeredInside(type));
        names.addAll(module.built().inside(type));
        names.add(type);
        return names;
    }

    /** The text that is shown in place of the classes of a type; empty if none is. */
    String outline(String type) {
        if (hasSay(type)) return module.outline(type);
        for (Module dependency : module.dependencies()) {
            if (dependency.hasSay(type)) return dependency.outline(type);
        }
        return "";
    }

    private boolean hasSay(String type) {
        return types.contains(type) || module.hasSayBesides(parsed, type);
    }

    private boolean anyHasSay(String type) {
        return hasSay(type)
                || module.dependencies().stream().anyMatch(dependency -> dependency.hasSay(type));
    }

    private boolean isFormer(String className, boolean inside) {
        if (inside && module.built().isNested(className)) return true;
        if (!mayHaveFormer(Names.packageOf(className).replace('/', '.'))) return false;
        String origin = module.built().source(className);
        return origins.contains(origin)
                || module.isOrigin(origin)
                || module.dependencies().stream().anyMatch(other -> other.isOrigin(origin));
    }

    /** Whether classes in the package, or below it, may come from a file that is a source here. */
    private boolean mayHaveFormer(String packageName) {
        return packageName.isEmpty()
                || packages.has(packageName)
                || module.hasOriginIn(packageName)
                || module.dependencies().stream().anyMatch(one -> one.hasOriginIn(packageName));
    }
}
