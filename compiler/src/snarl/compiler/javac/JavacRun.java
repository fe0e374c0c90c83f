package snarl.compiler.javac;

import com.sun.source.util.JavacTask;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;

import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.state.Module;
import snarl.compiler.state.Problem;
import snarl.compiler.state.Unit;
import snarl.compiler.wire.Request.ModuleConfig;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import javax.tools.Diagnostic;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;

/** One run of javac over some files, all in memory. */
final class JavacRun {
    private final Map<Unit, List<Problem>> errors = new LinkedHashMap<>();
    private final Map<Unit, List<ClassOutput>> classes;
    private String fault;

    JavacRun(JavaCompiler compiler, Module module, List<Unit> files) {
        Set<Unit> run = new HashSet<>(files);
        List<JavaFileObject> sources = new ArrayList<>();
        for (Unit file : files) sources.add(new JavacFiles.Source(file));
        try (StandardJavaFileManager standard =
                        compiler.getStandardFileManager(
                                null, Locale.ENGLISH, StandardCharsets.UTF_8);
                JavacFiles manager = new JavacFiles(standard, module, run)) {
            JavaCompiler.CompilationTask task =
                    compiler.getTask(
                            new PrintWriter(OutputStream.nullOutputStream()),
                            manager,
                            this::report,
                            options(module.config()),
                            null,
                            sources);
            if (task instanceof JavacTask javac) javac.addTaskListener(new Parsed(manager));
            boolean fine = task.call();
            if (!fine && errors.isEmpty() && fault == null)
                fault = "the compiler failed without a reason";
            classes = manager.outputs();
        } catch (IOException unclosed) {
            throw new IllegalStateException(unclosed);
        }
    }

    /** Files with errors, and those errors. */
    Map<Unit, List<Problem>> errors() {
        return errors;
    }

    /** An error that belongs to no file, or null. */
    String fault() {
        return fault;
    }

    List<ClassOutput> classes(Unit file) {
        List<ClassOutput> made = new ArrayList<>(classes.getOrDefault(file, List.of()));
        made.sort((one, other) -> one.name().compareTo(other.name()));
        return made;
    }

    private void report(Diagnostic<? extends JavaFileObject> diagnostic) {
        if (diagnostic.getKind() != Diagnostic.Kind.ERROR) return;
        String message = diagnostic.getMessage(Locale.ENGLISH);
        if (!(diagnostic.getSource() instanceof JavacFiles.Source source)) {
            fault = message;
            return;
        }
        int line = (int) Math.max(0, diagnostic.getLineNumber());
        int column = (int) Math.max(0, diagnostic.getColumnNumber());
        int length = (int) Math.max(0, diagnostic.getEndPosition() - diagnostic.getStartPosition());
        errors.computeIfAbsent(source.unit, none -> new ArrayList<>())
                .add(new Problem(Problem.ERROR, line, column, line, column + length, 0, message));
    }

    private record Parsed(JavacFiles manager) implements TaskListener {
        @Override
        public void finished(TaskEvent event) {
            if (event.getKind() == TaskEvent.Kind.PARSE)
                manager.parsed(event.getCompilationUnit());
        }
    }

    private static List<String> options(ModuleConfig config) {
        List<String> options =
                new ArrayList<>(List.of("-g", "-proc:none", "-implicit:none", "-nowarn"));
        String level = String.valueOf(config.level());
        if (config.release() != 0) {
            options.addAll(List.of("--release", level));
        } else {
            options.addAll(List.of("-source", level, "-target", level, "-Xlint:-options"));
            if (!config.javaHome().isEmpty() && config.level() > 8)
                options.addAll(List.of("--system", config.javaHome()));
        }
        if (config.preview() && config.level() == Runtime.version().feature())
            options.add("--enable-preview");
        return options;
    }
}
