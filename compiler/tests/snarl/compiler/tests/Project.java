package snarl.compiler.tests;

import snarl.compiler.ecj.EcjBackend;
import snarl.compiler.state.Answer;
import snarl.compiler.state.Backend;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.state.Compiled.MethodName;
import snarl.compiler.state.Problem;
import snarl.compiler.state.Timing;
import snarl.compiler.state.Workspace;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.Edit;
import snarl.compiler.wire.Request.FileText;
import snarl.compiler.wire.Request.ModuleChange;
import snarl.compiler.wire.Request.ModuleConfig;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A workspace and the parent that listens to it: applies every answer to what it knows, as the real
 * one does.
 */
final class Project {
    final Workspace workspace;
    private final Map<String, Map<String, ClassOutput>> classesOf = new TreeMap<>();
    private final Map<String, Compiled> lastOf = new TreeMap<>();
    private Answer last;

    Project(Backend backend) {
        workspace = new Workspace(backend);
    }

    /** A project of one module at level 17 with the files, given as path and text in turn. */
    static Project of(String... files) {
        Project project = new Project(new EcjBackend());
        project.configure(module("m", 17, files));
        return project;
    }

    static ModuleConfig module(String id, int level, String... files) {
        return new ModuleConfig(
                id, "", 0, level, false, "", false, List.of(), List.of(), List.of(), texts(files));
    }

    static ModuleConfig dependingOn(ModuleConfig config, String... modules) {
        return new ModuleConfig(
                config.id(),
                config.javaHome(),
                config.release(),
                config.level(),
                config.preview(),
                config.encoding(),
                config.hold(),
                List.of(modules),
                config.classPath(),
                config.sourceRoots(),
                config.files());
    }

    static ModuleConfig withClassPath(ModuleConfig config, String... entries) {
        return new ModuleConfig(
                config.id(),
                config.javaHome(),
                config.release(),
                config.level(),
                config.preview(),
                config.encoding(),
                config.hold(),
                config.dependsOn(),
                List.of(entries),
                config.sourceRoots(),
                config.files());
    }

    static ModuleConfig holding(ModuleConfig config) {
        return new ModuleConfig(
                config.id(),
                config.javaHome(),
                config.release(),
                config.level(),
                config.preview(),
                config.encoding(),
                true,
                config.dependsOn(),
                config.classPath(),
                config.sourceRoots(),
                config.files());
    }

    static List<FileText> texts(String... files) {
        List<FileText> texts = new ArrayList<>();
        for (int i = 0; i < files.length; i += 2) texts.add(new FileText(files[i], files[i + 1]));
        return texts;
    }

    Answer configure(ModuleConfig... modules) {
        return apply(new Request.Configure(1, List.of(modules)));
    }

    Answer put(String path, String text) {
        return edit("m", new Request.Replace(new FileText(path, text)));
    }

    Answer remove(String path) {
        return edit("m", new Request.Remove(path));
    }

    Answer edit(String module, Edit... edits) {
        return apply(new Request.Change(2, List.of(new ModuleChange(module, List.of(edits)))));
    }

    Answer apply(Request.Work request) {
        try {
            workspace.apply(request);
            return take(workspace.settle(new Timing(), () -> false));
        } catch (Exception wrong) {
            throw new AssertionError(wrong);
        }
    }

    Answer take(Answer answer) {
        last = answer;
        for (Answer.OfModule module : answer.modules()) {
            for (Answer.File file : module.files()) take(file);
        }
        return answer;
    }

    private void take(Answer.File file) {
        lastOf.put(file.path(), file.compiled());
        Compiled.Status status = file.compiled().status();
        if (status == Compiled.Status.FAILED || status == Compiled.Status.WITHHELD) return;
        Map<String, ClassOutput> before = classesOf.getOrDefault(file.path(), Map.of());
        Map<String, ClassOutput> now = new TreeMap<>();
        for (Answer.ClassFile classFile : file.classes()) {
            String name = classFile.output().name();
            if (classFile.known() && !before.containsKey(name))
                throw new AssertionError("told as known, and is not: " + name);
            now.put(name, classFile.known() ? before.get(name) : classFile.output());
        }
        classesOf.put(file.path(), now);
    }

    /** All classes the parent has, by file and name. */
    Map<String, ClassOutput> classes() {
        Map<String, ClassOutput> all = new TreeMap<>();
        classesOf.forEach(
                (path, classes) ->
                        classes.forEach((name, output) -> all.put(path + ":" + name, output)));
        return all;
    }

    /** The classes of every file, sorted by name. */
    Map<String, List<ClassOutput>> classesByPath() {
        Map<String, List<ClassOutput>> all = new TreeMap<>();
        classesOf.forEach(
                (path, classes) -> {
                    if (!classes.isEmpty()) all.put(path, List.copyOf(classes.values()));
                });
        return all;
    }

    /** Whether these are the same classes, byte for byte; null is none at all. */
    static boolean equal(List<ClassOutput> some, List<ClassOutput> others) {
        if (some == null || others == null) return some == others;
        if (some.size() != others.size()) return false;
        for (int i = 0; i < some.size(); i++) {
            if (!some.get(i).name().equals(others.get(i).name())
                    || !Arrays.equals(some.get(i).bytes(), others.get(i).bytes())) return false;
        }
        return true;
    }

    List<String> classNames(String path) {
        return List.copyOf(classesOf.getOrDefault(path, Map.of()).keySet());
    }

    Compiled compiled(String path) {
        return lastOf.get(path);
    }

    /** Paths that were compiled for the last request, in order. */
    List<String> recompiled() {
        List<String> paths = new ArrayList<>();
        for (Answer.OfModule module : last.modules()) {
            for (Answer.File file : module.files()) {
                if (file.compiled().status() != Compiled.Status.REMOVED) paths.add(file.path());
            }
        }
        return paths;
    }

    /** What the last answer says has changed for others: names of types, and of what in them. */
    List<String> changed() {
        return changed("");
    }

    /** The same, of files whose paths begin like this. */
    List<String> changed(String path) {
        List<String> changed = new ArrayList<>();
        for (Answer.OfModule module : last.modules()) {
            for (Answer.File file : module.files()) {
                if (!file.path().startsWith(path)) continue;
                file.changed()
                        .forEach(
                                (name, what) ->
                                        changed.add(
                                                name
                                                        + (what.whole() ? " whole" : "")
                                                        + (what.members().isEmpty()
                                                                ? ""
                                                                : " " + what.members())));
            }
        }
        return changed;
    }

    /** The messages of all files that have any. */
    List<String> errors() {
        List<String> messages = new ArrayList<>();
        lastOf.forEach(
                (path, compiled) -> {
                    for (Problem problem : compiled.problems())
                        messages.add(path + ":" + problem.line() + ": " + problem.message());
                });
        return messages;
    }

    /** The stubs of a class, written name and descriptor together. */
    List<String> stubs(String path, String className) {
        return output(path, className).stubs().stream()
                .map((MethodName stub) -> stub.name() + stub.descriptor())
                .toList();
    }

    /** The class as it was last told in full or in part. */
    ClassOutput output(String path, String className) {
        for (ClassOutput output : lastOf.get(path).classes()) {
            if (output.name().equals(className)) return output;
        }
        throw new AssertionError(
                "no class "
                        + className
                        + " of "
                        + path
                        + " but "
                        + classNames(path)
                        + "; "
                        + errors());
    }

    /** Loads a class that needs no other and calls its static method without parameters. */
    Object call(String path, String className, String method) throws ReflectiveOperationException {
        Map<String, ClassOutput> known = classes();
        ClassLoader loader =
                new ClassLoader(null) {
                    @Override
                    protected Class<?> findClass(String name) throws ClassNotFoundException {
                        for (Map.Entry<String, ClassOutput> entry : known.entrySet()) {
                            byte[] bytes = entry.getValue().bytes();
                            if (entry.getValue().name().equals(name.replace('.', '/')))
                                return defineClass(name, bytes, 0, bytes.length);
                        }
                        throw new ClassNotFoundException(name);
                    }
                };
        var found = loader.loadClass(className.replace('/', '.')).getDeclaredMethod(method);
        found.setAccessible(true);
        return found.invoke(null);
    }
}
