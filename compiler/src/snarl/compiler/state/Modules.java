package snarl.compiler.state;

import snarl.compiler.classpath.ClassPath;
import snarl.compiler.classpath.IndexedLocation;
import snarl.compiler.classpath.Location;
import snarl.compiler.classpath.Locations;
import snarl.compiler.wire.Request.ModuleConfig;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The modules by id, each pointing at those it depends on and at its class path. When one of them
 * is configured, all are made anew and take over the files of their predecessors. What is in the
 * files is not known here.
 */
final class Modules {
    private final Locations locations;
    private final Consumer<String> note;
    private Map<String, Module> modules = new TreeMap<>();

    Modules(Locations locations, Consumer<String> note) {
        this.locations = locations;
        this.note = note;
    }

    /** Null if there is none. */
    Module get(String id) {
        return modules.get(id);
    }

    Collection<Module> all() {
        return modules.values();
    }

    /** Adds the modules, or puts them in the place of those with the same ids. */
    void configure(List<ModuleConfig> configs) throws Refused {
        Map<String, ModuleConfig> all = configs();
        configs.forEach(config -> all.put(config.id(), config));
        refuseCircles(all);
        build(all);
    }

    void drop(String id) {
        Map<String, ModuleConfig> rest = configs();
        rest.remove(id);
        build(rest);
    }

    /** Looks at the class path again, of which an entry was opened anew. */
    void refresh() {
        build(configs());
    }

    /** A dirty module none of whose dependencies is dirty, or null. */
    Module firstDirty() {
        for (Module module : modules.values()) {
            if (module.isDirty()) return deepestDirty(module);
        }
        return null;
    }

    private static Module deepestDirty(Module module) {
        for (Module dependency : module.dependencies()) {
            if (dependency.isDirty()) return deepestDirty(dependency);
        }
        return module;
    }

    private Map<String, ModuleConfig> configs() {
        Map<String, ModuleConfig> configs = new LinkedHashMap<>();
        modules.forEach((id, module) -> configs.put(id, module.config()));
        return configs;
    }

    private void build(Map<String, ModuleConfig> configs) {
        Map<String, Module> before = modules;
        modules = new TreeMap<>();
        for (String id : configs.keySet()) build(id, configs, before);
    }

    private Module build(String id, Map<String, ModuleConfig> configs, Map<String, Module> before) {
        Module built = modules.get(id);
        if (built != null) return built;
        ModuleConfig config = configs.get(id);
        List<Module> dependencies = new ArrayList<>();
        for (String dependency : config.dependsOn()) {
            if (configs.containsKey(dependency))
                dependencies.add(build(dependency, configs, before));
        }
        Module module = new Module(config, classPath(config), dependencies);
        Module earlier = before.get(id);
        if (earlier != null) {
            module.inherit(earlier);
            if (!seesTheSame(earlier, module)) module.makeAllDirty();
        }
        modules.put(id, module);
        return module;
    }

    private ClassPath classPath(ModuleConfig config) {
        Location jdk = locations.jdk(config.javaHome(), config.release(), note);
        List<IndexedLocation> entries = new ArrayList<>();
        for (String entry : config.classPath()) entries.add(locations.entry(entry, note));
        return new ClassPath(jdk, entries);
    }

    /** Whether files with the same text mean the same in both. */
    private static boolean seesTheSame(Module one, Module other) {
        ModuleConfig a = one.config();
        ModuleConfig b = other.config();
        return a.javaHome().equals(b.javaHome())
                && a.release() == b.release()
                && a.level() == b.level()
                && a.preview() == b.preview()
                && a.hold() == b.hold()
                && a.classPath().equals(b.classPath())
                && ids(one.dependencies()).equals(ids(other.dependencies()));
    }

    private static List<String> ids(List<Module> modules) {
        return modules.stream().map(module -> module.config().id()).toList();
    }

    private static void refuseCircles(Map<String, ModuleConfig> configs) throws Refused {
        Set<String> done = new TreeSet<>();
        for (String id : configs.keySet()) refuseCircles(id, configs, new ArrayList<>(), done);
    }

    private static void refuseCircles(
            String id, Map<String, ModuleConfig> configs, List<String> way, Set<String> done)
            throws Refused {
        if (done.contains(id) || !configs.containsKey(id)) return;
        if (way.contains(id))
            throw new Refused("modules depend on each other in a circle: " + way + " " + id);
        way.add(id);
        for (String dependency : configs.get(id).dependsOn())
            refuseCircles(dependency, configs, way, done);
        way.remove(way.size() - 1);
        done.add(id);
    }
}
