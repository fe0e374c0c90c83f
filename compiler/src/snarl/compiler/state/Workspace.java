package snarl.compiler.state;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import snarl.compiler.classpath.ClassPath;
import snarl.compiler.classpath.Location;
import snarl.compiler.classpath.Locations;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.ModuleConfig;

/**
 * All modules, and the one way in which they change: requests mark files as to be compiled, {@link #settle}
 * compiles until nothing is marked. Whatever stops it in between, the marks say what is left to do, so the next
 * call goes on from there. It knows neither frames nor a particular compiler.
 */
public final class Workspace {
    /** After so many rounds in one request a module is compiled as a whole. */
    private static final int MOST_ROUNDS = 8;

    private final Backend backend;
    private final Locations locations = new Locations();
    private final Map<String, Module> modules = new TreeMap<>();
    private final List<String> notes = new ArrayList<>();

    public Workspace(Backend backend) {
        this.backend = backend;
    }

    public void apply(Request.Work request) throws Refused {
        if (request instanceof Request.Configure configure) configure(configure.modules());
        else if (request instanceof Request.Change change) change(change.modules());
    }

    /** Compiles all that is marked and all that this marks in turn, and answers what has come of it. */
    public Answer settle(Timing timing, BooleanSupplier cancelled) throws Cancelled {
        Map<String, Integer> rounds = new TreeMap<>();
        for (Module module = firstDirty(); module != null; module = firstDirty()) {
            int round = rounds.merge(module.config().id(), 1, Integer::sum);
            if (round == MOST_ROUNDS) module.makeAllDirty();
            compile(module, timing, cancelled);
            if (round >= MOST_ROUNDS) module.forgetDirty();
        }
        return answer(timing);
    }

    // ---- requests ----

    private void configure(List<ModuleConfig> configs) throws Refused {
        for (ModuleConfig config : configs) {
            if (config.level() < 8 || config.level() > backend.newestLevel()) {
                throw new Refused("module " + config.id() + ": Java " + config.level() + " is not between 8 and " + backend.newestLevel());
            }
            charset(config);
        }
        Map<String, ModuleConfig> all = new LinkedHashMap<>();
        modules.forEach((id, module) -> all.put(id, module.config()));
        configs.forEach(config -> all.put(config.id(), config));
        refuseCycles(all);

        rebuild(all);
        for (ModuleConfig config : configs) files(modules.get(config.id()));
    }

    /** Makes all modules anew from their configurations: each points at those it depends on. */
    private void rebuild(Map<String, ModuleConfig> configs) throws Refused {
        Map<String, Module> before = new TreeMap<>(modules);
        modules.clear();
        for (String id : configs.keySet()) build(id, configs, before);
    }

    private Module build(String id, Map<String, ModuleConfig> configs, Map<String, Module> before) {
        Module built = modules.get(id);
        if (built != null) return built;
        ModuleConfig config = configs.get(id);
        List<Module> dependencies = new ArrayList<>();
        for (String dependency : config.dependsOn()) {
            if (configs.containsKey(dependency)) dependencies.add(build(dependency, configs, before));
        }
        List<Location> path = new ArrayList<>();
        path.add(locations.jdk(config.javaHome(), config.release(), notes::add));
        for (String entry : config.classPath()) path.add(locations.entry(entry, notes::add));
        Module module = new Module(config, new ClassPath(path), dependencies);
        Module earlier = before.get(id);
        if (earlier != null) {
            module.inherit(earlier);
            if (!seesTheSame(earlier, module)) module.makeAllDirty();
        }
        modules.put(id, module);
        return module;
    }

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

    /** Brings the files of a module to those its configuration names. */
    private void files(Module module) throws Refused {
        ModuleConfig config = module.config();
        Charset charset = charset(config);
        Map<String, SourceText> texts = new TreeMap<>();
        for (String root : config.sourceRoots()) {
            for (String path : sourcesBelow(root)) texts.put(path, SourceText.read(path, charset));
        }
        for (Request.FileText file : config.files()) texts.put(file.path(), text(file, charset));
        for (Unit unit : new ArrayList<>(module.units())) {
            if (!texts.containsKey(unit.path())) mark(module, module.remove(unit.path()), Set.of());
        }
        texts.forEach((path, text) -> put(module, path, text));
    }

    private void change(List<Request.ModuleChange> changes) throws Refused {
        for (Request.ModuleChange change : changes) {
            if (!modules.containsKey(change.module())) throw new Refused("there is no module " + change.module());
        }
        for (Request.ModuleChange change : changes) {
            for (Request.Edit edit : change.edits()) {
                Module module = modules.get(change.module());
                if (module == null) break; // dropped by the edit before
                edit(module, edit);
            }
        }
    }

    private void edit(Module module, Request.Edit edit) throws Refused {
        if (edit instanceof Request.Replace replace) {
            put(module, replace.file().path(), text(replace.file(), charset(module.config())));
        } else if (edit instanceof Request.Remove remove) {
            mark(module, module.remove(remove.path()), Set.of());
        } else if (edit instanceof Request.ClassPathChanged changed) {
            reopen(changed.path());
        } else if (edit instanceof Request.DropModule) {
            Map<String, ModuleConfig> rest = new LinkedHashMap<>();
            modules.forEach((id, other) -> rest.put(id, other.config()));
            rest.remove(module.config().id());
            rebuild(rest);
        }
    }

    private void put(Module module, String path, SourceText text) {
        if (text.remark() != null) notes.add(path + " " + text.remark());
        module.put(path, text);
    }

    private void reopen(String path) throws Refused {
        List<Location> oldAndNew = locations.reopen(path, notes::add);
        if (oldAndNew == null) return;
        Location old = oldAndNew.get(0);
        Location now = oldAndNew.get(1);
        Set<String> changed = new TreeSet<>(old.readDifferently(now));
        changed.addAll(old.missingIn(now));
        changed.addAll(now.missingIn(old));
        List<TypeChange> changes = new ArrayList<>();
        for (String name : changed) {
            changes.add(TypeChange.of(name, null));
            // Packages may have come or gone with the class.
            String packageName = name.substring(0, Math.max(0, name.lastIndexOf('/')));
            for (; !packageName.isEmpty(); packageName = packageName.substring(0, Math.max(0, packageName.lastIndexOf('/')))) {
                if (old.hasPackage(packageName) != now.hasPackage(packageName)) changes.add(TypeChange.ofPackage(packageName.replace('/', '.')));
            }
        }
        Set<String> users = new TreeSet<>();
        modules.forEach((id, module) -> {
            if (module.classPath().uses(old)) users.add(id);
        });
        Map<String, ModuleConfig> configs = new LinkedHashMap<>();
        modules.forEach((id, module) -> configs.put(id, module.config()));
        rebuild(configs);
        for (String id : users) {
            for (Unit unit : modules.get(id).units()) markIfConcerned(modules.get(id), unit, changes);
        }
        try {
            old.close();
        } catch (IOException leftOpen) {
            notes.add("class path entry " + path + " cannot be closed: " + leftOpen);
        }
    }

    // ---- settling ----

    private void compile(Module module, Timing timing, BooleanSupplier cancelled) throws Cancelled {
        List<Unit> batch = module.dirty();
        Map<Unit, Compiled> results = new LinkedHashMap<>();
        List<Unit> sources = new ArrayList<>();
        for (Unit unit : batch) {
            if (unit.isModuleDeclaration()) results.put(unit, Compiled.ignored());
            else if (unit.source().fault() != null) results.put(unit, Compiled.failed(unit.source().fault()));
            else sources.add(unit);
        }
        if (!sources.isEmpty()) results.putAll(backend.compile(module, sources, timing, cancelled));
        mark(module, module.accept(results), results.keySet());
    }

    /** Marks whatever refers to something that has changed, except what was compiled together with it. */
    private void mark(Module changed, List<TypeChange> changes, Collection<Unit> except) {
        if (changes.isEmpty()) return;
        for (Module module : modules.values()) {
            if (module != changed && !module.dependencies().contains(changed)) continue;
            for (Unit unit : module.units()) {
                if (!except.contains(unit)) markIfConcerned(module, unit, changes);
            }
        }
    }

    private static void markIfConcerned(Module module, Unit unit, List<TypeChange> changes) {
        for (TypeChange change : changes) {
            if (change.concerns(unit)) {
                module.makeDirty(unit);
                return;
            }
        }
    }

    /** A dirty module none of whose dependencies is dirty, or null. */
    private Module firstDirty() {
        for (Module module : modules.values()) {
            if (!module.isDirty()) continue;
            Module first = module;
            for (boolean deeper = true; deeper; ) {
                deeper = false;
                for (Module dependency : first.dependencies()) {
                    if (dependency.isDirty()) {
                        first = dependency;
                        deeper = true;
                        break;
                    }
                }
            }
            return first;
        }
        return null;
    }

    private Answer answer(Timing timing) {
        List<Answer.OfModule> told = new ArrayList<>();
        modules.forEach((id, module) -> {
            List<Answer.File> files = module.tell();
            if (!files.isEmpty()) told.add(new Answer.OfModule(id, files));
        });
        List<String> remarks = List.copyOf(notes);
        notes.clear();
        return new Answer(timing, remarks, told);
    }

    // ---- reading ----

    private static SourceText text(Request.FileText file, Charset charset) {
        return file.text() == null ? SourceText.read(file.path(), charset) : SourceText.of(file.text());
    }

    private static Charset charset(ModuleConfig config) throws Refused {
        if (config.encoding().isEmpty()) return StandardCharsets.UTF_8;
        try {
            return Charset.forName(config.encoding());
        } catch (IllegalArgumentException unknown) {
            throw new Refused("module " + config.id() + ": there is no encoding " + config.encoding());
        }
    }

    private List<String> sourcesBelow(String root) {
        try (Stream<Path> files = Files.walk(Path.of(root))) {
            return files.filter(file -> file.toString().endsWith(".java") && Files.isRegularFile(file)).map(Path::toString).sorted().toList();
        } catch (IOException | RuntimeException gone) {
            notes.add("source root " + root + " cannot be read: " + gone);
            return List.of();
        }
    }

    private static void refuseCycles(Map<String, ModuleConfig> configs) throws Refused {
        Set<String> done = new TreeSet<>();
        for (String id : configs.keySet()) refuseCycles(id, configs, new ArrayList<>(), done);
    }

    private static void refuseCycles(String id, Map<String, ModuleConfig> configs, List<String> way, Set<String> done) throws Refused {
        if (done.contains(id) || !configs.containsKey(id)) return;
        if (way.contains(id)) throw new Refused("modules depend on each other in a circle: " + way + " " + id);
        way.add(id);
        for (String dependency : configs.get(id).dependsOn()) refuseCycles(dependency, configs, way, done);
        way.remove(way.size() - 1);
        done.add(id);
    }
}
