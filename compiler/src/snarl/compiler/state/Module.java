package snarl.compiler.state;

import snarl.compiler.classpath.ClassPath;
import snarl.compiler.shape.Difference;
import snarl.compiler.wire.Request.ModuleConfig;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
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
    private static final Comparator<Unit> BY_PATH = Comparator.comparing(Unit::path);

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

    /** Which files have the say about a top-level type, so that no others are asked for it. */
    private final Map<String, Set<Unit>> sayers = new HashMap<>();

    /** How many files there are that classes may name as their source. */
    private final Map<String, Integer> origins = new HashMap<>();

    private final Packages packages = new Packages();
    private final Packages originPackages = new Packages();
    private final Built built;
    private int damaged;

    /** What was seen of types that have been touched since the last answer, before they were. */
    private final Map<String, Sight> before = new TreeMap<>();

    /** The types that each file has touched since the last answer. */
    private final Map<String, Set<String>> touched = new TreeMap<>();

    Module(ModuleConfig config, ClassPath classPath, List<Module> dependencies) {
        this.config = config;
        this.classPath = classPath;
        this.dependencies = dependencies;
        this.built = new Built(classPath);
    }

    public ModuleConfig config() {
        return config;
    }

    public ClassPath classPath() {
        return classPath;
    }

    Built built() {
        return built;
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

    /** The type and all that by their names are inside it. */
    Set<String> offeredInside(String type) {
        Set<String> names = new TreeSet<>();
        for (Unit unit : sayers.getOrDefault(type, Set.of())) {
            if (unit.offered().containsKey(type)) names.add(type);
            // '%' is the character behind '$'.
            names.addAll(unit.offered().subMap(type + "$", type + "%").keySet());
        }
        return names;
    }

    /** Whether a file here has the say about a top-level type. */
    boolean hasSay(String type) {
        return sayers.containsKey(type);
    }

    boolean hasSayBesides(Collection<Unit> files, String type) {
        Set<Unit> all = sayers.get(type);
        return all != null && !files.containsAll(all);
    }

    /** Whether classes may name a file here as their source; see {@link Names#origin}. */
    boolean isOrigin(String origin) {
        return origins.containsKey(origin);
    }

    /** Whether such a file is in the package, which is written with dots, or below it. */
    boolean hasOriginIn(String packageName) {
        return originPackages.has(packageName);
    }

    /** The texts that others are shown in place of the classes of a type; empty if none are. */
    String outline(String type) {
        StringBuilder texts = new StringBuilder();
        for (Unit unit : sayers.getOrDefault(type, Set.of())) {
            if (unit.outline() == null) continue;
            texts.append(unit.path()).append('\n').append(unit.outline());
        }
        return texts.toString();
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

    /** Null if there is none. */
    Unit unit(String path) {
        return units.get(path);
    }

    /** Takes a file away. */
    void remove(Unit unit) {
        units.remove(unit.path());
        dirty.remove(unit.path());
        untold.add(unit.path());
        unindex(unit);
        for (String type : unit.declared())
            dirty.addAll(declarers.getOrDefault(type, new TreeSet<>()));
    }

    /** Takes the results of one run of the compiler. */
    void accept(Map<Unit, Compiled> results) {
        results.forEach(
                (unit, result) -> {
                    Set<String> declared = new TreeSet<>(unit.declared());
                    unindex(unit);
                    unit.accept(result, config.hold(), built);
                    index(unit);
                    declared.addAll(unit.declared());
                    for (String type : declared) {
                        for (String rival : declarers.getOrDefault(type, new TreeSet<>())) {
                            if (!results.containsKey(units.get(rival))) dirty.add(rival);
                        }
                    }
                    dirty.remove(unit.path());
                    untold.add(unit.path());
                });
    }

    /**
     * Remembers what others see of these types of a file, unless they have been touched before
     * since the last answer.
     */
    void touch(String path, Set<String> types) {
        touched.computeIfAbsent(path, none -> new TreeSet<>()).addAll(types);
        for (String type : types)
            before.computeIfAbsent(type, none -> Sight.of(this, Set.of(type), Set.of()));
    }

    /** The answers about all files that have changed since the last call. */
    List<Answer.File> tell() {
        List<Answer.File> files = new ArrayList<>();
        for (String path : untold) {
            Unit unit = units.get(path);
            Map<String, Difference> changed = changed(touched.getOrDefault(path, Set.of()));
            files.add(unit == null ? Answer.File.removed(path, changed) : unit.tell(changed));
        }
        untold.clear();
        touched.clear();
        before.clear();
        return files;
    }

    private Map<String, Difference> changed(Set<String> types) {
        Map<String, Difference> changed = new TreeMap<>();
        for (String type : types)
            changed.putAll(
                    before.get(type).classesThatDiffer(Sight.of(this, Set.of(type), Set.of())));
        return changed;
    }

    /** Takes over the files of an earlier configuration, with all that is known of them. */
    void inherit(Module earlier) {
        units.putAll(earlier.units);
        untold.addAll(earlier.untold);
        dirty.addAll(earlier.dirty);
        before.putAll(earlier.before);
        touched.putAll(earlier.touched);
        units.values().forEach(this::index);
    }

    private void index(Unit unit) {
        if (unit.isDamaged()) damaged++;
        for (String name : unit.offered().keySet()) owners.put(name, unit);
        for (String type : unit.says())
            sayers.computeIfAbsent(type, none -> new TreeSet<>(BY_PATH)).add(unit);
        for (String type : unit.declared())
            declarers.computeIfAbsent(type, none -> new TreeSet<>()).add(unit.path());
        packages.move("", unit.packageName());
        for (String origin : unit.origins()) {
            origins.merge(origin, 1, Integer::sum);
            originPackages.move("", Names.packageOf(origin).replace('/', '.'));
        }
    }

    private void unindex(Unit unit) {
        if (unit.isDamaged()) damaged--;
        for (String name : unit.offered().keySet()) owners.remove(name, unit);
        for (String type : unit.says())
            sayers.computeIfPresent(
                    type, (name, all) -> all.remove(unit) && all.isEmpty() ? null : all);
        for (String type : unit.declared()) {
            TreeSet<String> files = declarers.get(type);
            if (files != null && files.remove(unit.path()) && files.isEmpty())
                declarers.remove(type);
        }
        packages.move(unit.packageName(), "");
        for (String origin : unit.origins()) {
            origins.merge(origin, -1, (count, less) -> count == 1 ? null : count - 1);
            originPackages.move(Names.packageOf(origin).replace('/', '.'), "");
        }
    }
}
