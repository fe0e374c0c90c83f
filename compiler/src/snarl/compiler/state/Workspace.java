package snarl.compiler.state;

import snarl.compiler.classpath.Location;
import snarl.compiler.classpath.Locations;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.ModuleConfig;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * All modules, and the one way in which they change: requests mark files as to be compiled, {@link
 * #settle} compiles until nothing is marked. Whatever stops it in between, the marks say what is
 * left to do, so the next call goes on from there. It knows neither frames nor a particular
 * compiler.
 */
public final class Workspace {
    /** After so many rounds in one request a module is compiled as a whole. */
    private static final int MOST_ROUNDS = 8;

    private final Backend backend;
    private final List<String> notes = new ArrayList<>();
    private final Locations locations = new Locations();
    private final Modules modules = new Modules(locations, notes::add);

    public Workspace(Backend backend) {
        this.backend = backend;
    }

    public void apply(Request.Work request) throws Refused {
        if (request instanceof Request.Configure configure) configure(configure.modules());
        else if (request instanceof Request.Change change) change(change.modules());
    }

    /**
     * Compiles all that is marked and all that this marks in turn, and answers what has come of it.
     */
    public Answer settle(Timing timing, BooleanSupplier cancelled) throws Cancelled {
        Map<String, Integer> rounds = new TreeMap<>();
        for (Module module = modules.firstDirty(); module != null; module = modules.firstDirty()) {
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
                throw new Refused(
                        "module "
                                + config.id()
                                + ": Java "
                                + config.level()
                                + " is not between 8 and "
                                + backend.newestLevel());
            }
            Sources.charset(config);
        }
        modules.configure(configs);
        for (ModuleConfig config : configs) {
            Module module = modules.get(config.id());
            Map<String, SourceText> texts = Sources.of(config, notes::add);
            for (Unit unit : new ArrayList<>(module.units())) {
                if (!texts.containsKey(unit.path())) remove(module, unit);
            }
            texts.forEach((path, text) -> put(module, path, text));
        }
    }

    private void change(List<Request.ModuleChange> changes) throws Refused {
        for (Request.ModuleChange change : changes) {
            if (modules.get(change.module()) == null)
                throw new Refused("there is no module " + change.module());
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
        if (edit instanceof Request.Replace replace)
            put(module, replace.file().path(), Sources.text(replace.file(), module.config()));
        else if (edit instanceof Request.Remove remove)
            remove(module, module.unit(remove.path()));
        else if (edit instanceof Request.ClassPathChanged changed) reopen(changed.path());
        else if (edit instanceof Request.DropModule) modules.drop(module.config().id());
    }

    private void put(Module module, String path, SourceText text) {
        if (text.remark() != null) notes.add(path + " " + text.remark());
        module.put(path, text);
    }

    private void remove(Module module, Unit unit) {
        if (unit == null) return;
        follow(module, Touched.by(module, unit), () -> module.remove(unit), Set.of());
    }

    private void reopen(String path) {
        List<Location> oldAndNew = locations.reopen(path, notes::add);
        if (oldAndNew == null) return;
        Location old = oldAndNew.get(0);
        LocationChange change = new LocationChange(old, oldAndNew.get(1));
        List<String> users =
                modules.all().stream()
                        .filter(module -> module.classPath().uses(old))
                        .map(module -> module.config().id())
                        .toList();
        modules.refresh();
        for (String id : users) {
            Module user = modules.get(id);
            List<TypeChange> changes = change.seenBy(user);
            for (Unit unit : user.units()) {
                if (unit.waits()) user.makeDirty(unit);
                markIfConcerned(user, unit, changes);
            }
        }
        try {
            old.close();
        } catch (IOException leftOpen) {
            notes.add("class path entry " + path + " cannot be closed: " + leftOpen);
        }
    }

    // ---- settling ----

    private void compile(Module module, Timing timing, BooleanSupplier cancelled) throws Cancelled {
        Map<Unit, Compiled> results = new LinkedHashMap<>();
        List<Unit> sources = new ArrayList<>();
        for (Unit unit : module.dirty()) {
            if (unit.isModuleDeclaration()) results.put(unit, Compiled.ignored());
            else if (unit.source().fault() != null)
                results.put(unit, Compiled.failed(unit.source().fault()));
            else sources.add(unit);
        }
        if (!sources.isEmpty()) results.putAll(backend.compile(module, sources, timing, cancelled));
        Touched touched = Touched.by(module, results);
        follow(module, touched, () -> module.accept(results), results.keySet());
        for (Unit unit : results.keySet()) {
            if (unit.isHeld()) compileWithout(unit, module, results.keySet());
        }
    }

    /**
     * Changes the files of a module, and marks whatever refers to something that is seen
     * differently then, except what was compiled together with it.
     */
    private void follow(
            Module changed, Touched touched, Runnable change, Collection<Unit> except) {
        touched.types().forEach(changed::touch);
        Map<Module, Sight> before = new LinkedHashMap<>();
        for (Module module : modules.all()) {
            boolean sees = module == changed || module.dependencies().contains(changed);
            if (sees && !except.containsAll(module.units()))
                before.put(module, touched.seenBy(module));
        }
        change.run();
        before.forEach(
                (module, sight) -> {
                    List<TypeChange> changes = sight.changesTo(touched.seenBy(module));
                    if (changes.isEmpty()) return;
                    for (Unit unit : module.units()) {
                        if (!except.contains(unit)) markIfConcerned(module, unit, changes);
                    }
                });
    }

    /**
     * Marks those that were compiled together with a file and have seen a text of it that is kept
     * from others.
     */
    private static void compileWithout(Unit held, Module module, Collection<Unit> together) {
        Set<String> types = new TreeSet<>(held.declared());
        types.addAll(held.says());
        for (String origin : module.built().origins(held.path(), held.packageName()))
            types.addAll(module.built().typesFrom(origin));
        List<TypeChange> changes = new ArrayList<>();
        for (String type : types) changes.add(TypeChange.of(type));
        List<Unit> never = module.withRivals(List.of(held));
        for (Unit unit : together) {
            if (!unit.isHeld() && !never.contains(unit)) markIfConcerned(module, unit, changes);
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

    private Answer answer(Timing timing) {
        List<Answer.OfModule> told = new ArrayList<>();
        for (Module module : modules.all()) {
            List<Answer.File> files = module.tell();
            if (!files.isEmpty()) told.add(new Answer.OfModule(module.config().id(), files));
        }
        List<String> remarks = List.copyOf(notes);
        notes.clear();
        return new Answer(timing, remarks, told);
    }
}
