package snarl.compiler.state;

import snarl.compiler.classpath.ClassPath;
import snarl.compiler.wire.Request.ModuleConfig;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The files of one module, who declares and offers what, and which files are to be compiled and
 * told. It keeps its indexes right; what is compiled when is decided by {@link Workspace}.
 */
public final class Module {
    private static final int MOST_DAMAGED = 20;

    private final ModuleConfig config;
    private final ClassPath classPath;
    private final List<Module> dependencies;
    private final TreeMap<String, Unit> units = new TreeMap<>();
    private final TreeSet<String> dirty = new TreeSet<>();
    private final TreeSet<String> untold = new TreeSet<>();

    /** Which file offers a class. */
    private final Map<String, Unit> owners = new HashMap<>();

    /**
     * Which files declare a top-level type; more than one is a mistake in the sources that happens.
     */
    private final Map<String, TreeSet<String>> declarers = new HashMap<>();

    private final Packages packages = new Packages();
    private int damaged;

    Module(ModuleConfig config, ClassPath classPath, List<Module> dependencies) {
        this.config = config;
        this.classPath = classPath;
        this.dependencies = dependencies;
    }

    public ModuleConfig config() {
        return config;
    }

    public ClassPath classPath() {
        return classPath;
    }

    /** The modules whose classes are seen here, in the order in which they are asked. */
    public List<Module> dependencies() {
        return dependencies;
    }

    /** The file that offers the class, or null. */
    public Unit owner(String className) {
        return owners.get(className);
    }

    public OfferedClass offered(String className) {
        Unit owner = owners.get(className);
        return owner == null ? null : owner.offered().get(className);
    }

    /** All classes directly in a package, which is written with slashes. */
    public List<OfferedClass> offeredIn(String packageName) {
        List<OfferedClass> found = new ArrayList<>();
        owners.forEach(
                (name, owner) -> {
                    int slash = name.lastIndexOf('/');
                    if (packageName.equals(slash < 0 ? "" : name.substring(0, slash)))
                        found.add(owner.offered().get(name));
                });
        return found;
    }

    /**
     * Whether damaged files are shown to others as source, which is exact and compiles them again
     * and again. Where half the project is damaged, as without its libraries, their classes have to
     * do.
     */
    public boolean showsDamagedSources() {
        return damaged <= MOST_DAMAGED;
    }

    public boolean hasPackage(String name) {
        return packages.has(name);
    }

    /** Whether the package is there even without these files. */
    public boolean hasPackageBesides(Collection<Unit> files, String name) {
        return packages.hasBesides(files, name);
    }

    public Collection<Unit> units() {
        return units.values();
    }

    boolean isDirty() {
        return !dirty.isEmpty();
    }

    /** The files to compile now. */
    List<Unit> dirty() {
        return withRivals(dirty.stream().map(units::get).toList());
    }

    /**
     * The files and all that declare the same types, since such are right only together; in the
     * order of paths.
     */
    public List<Unit> withRivals(Collection<Unit> files) {
        TreeMap<String, Unit> found = new TreeMap<>();
        List<Unit> open = new ArrayList<>(files);
        while (!open.isEmpty()) {
            Unit unit = open.remove(open.size() - 1);
            if (found.put(unit.path(), unit) != null) continue;
            for (String type : unit.declared()) {
                for (String rival : declarers.get(type)) open.add(units.get(rival));
            }
        }
        return List.copyOf(found.values());
    }

    void makeDirty(Unit unit) {
        dirty.add(unit.path());
    }

    void makeAllDirty() {
        dirty.addAll(units.keySet());
    }

    void forgetDirty() {
        dirty.clear();
    }

    void put(String path, SourceText text) {
        Unit unit = units.get(path);
        if (unit != null && unit.source().equals(text) && text.fault() == null) return;
        if (unit == null) units.put(path, new Unit(path, text));
        else unit.edit(text);
        dirty.add(path);
    }

    /** Takes a file away, and answers what that changes for others. */
    List<TypeChange> remove(String path) {
        Unit unit = units.remove(path);
        if (unit == null) return List.of();
        dirty.remove(path);
        untold.add(path);
        unindex(unit);
        List<TypeChange> changes = new ArrayList<>();
        for (OfferedClass offered : unit.offered().values()) {
            if (offered.signature().visible()) changes.add(TypeChange.of(offered.name(), null));
        }
        packages.move(unit.packageName(), "")
                .forEach(name -> changes.add(TypeChange.ofPackage(name)));
        for (String type : unit.declared())
            dirty.addAll(declarers.getOrDefault(type, new TreeSet<>()));
        return changes;
    }

    /** Takes the results of one run of the compiler, and answers what they change for others. */
    List<TypeChange> accept(Map<Unit, Compiled> results) {
        List<TypeChange> changes = new ArrayList<>();
        results.forEach(
                (unit, result) -> {
                    String before = unit.packageName();
                    Set<String> declared = new TreeSet<>(unit.declared());
                    unindex(unit);
                    unit.accept(result, config.hold())
                            .forEach((name, members) -> changes.add(TypeChange.of(name, members)));
                    index(unit);
                    packages.move(before, unit.packageName())
                            .forEach(name -> changes.add(TypeChange.ofPackage(name)));
                    declared.addAll(unit.declared());
                    for (String type : declared) {
                        for (String rival : declarers.getOrDefault(type, new TreeSet<>())) {
                            if (!results.containsKey(units.get(rival))) dirty.add(rival);
                        }
                    }
                    dirty.remove(unit.path());
                    untold.add(unit.path());
                });
        return changes;
    }

    /** The answers about all files that have changed since the last call. */
    List<Answer.File> tell() {
        List<Answer.File> files = new ArrayList<>();
        for (String path : untold) {
            Unit unit = units.get(path);
            files.add(unit == null ? Answer.File.removed(path) : unit.tell());
        }
        untold.clear();
        return files;
    }

    /** Takes over the files of an earlier configuration, with all that is known of them. */
    void inherit(Module earlier) {
        units.putAll(earlier.units);
        untold.addAll(earlier.untold);
        dirty.addAll(earlier.dirty);
        for (Unit unit : units.values()) {
            index(unit);
            packages.move("", unit.packageName());
        }
    }

    private void index(Unit unit) {
        if (unit.isDamaged()) damaged++;
        for (String name : unit.offered().keySet()) owners.put(name, unit);
        for (String type : unit.declared())
            declarers.computeIfAbsent(type, none -> new TreeSet<>()).add(unit.path());
    }

    private void unindex(Unit unit) {
        if (unit.isDamaged()) damaged--;
        for (String name : unit.offered().keySet()) owners.remove(name, unit);
        for (String type : unit.declared()) {
            TreeSet<String> files = declarers.get(type);
            if (files != null && files.remove(unit.path()) && files.isEmpty())
                declarers.remove(type);
        }
    }
}
