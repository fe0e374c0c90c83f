package snarl.compiler.javac;

import snarl.compiler.state.Backend;
import snarl.compiler.state.Cancelled;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.state.Compiled.Status;
import snarl.compiler.state.Module;
import snarl.compiler.state.Problem;
import snarl.compiler.state.Timing;
import snarl.compiler.state.Unit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * The running JDK's own compiler as a {@link Backend}, for where the Eclipse compiler cannot be
 * had. It makes no classes of files with errors, and none at all in a run with errors: so files
 * with errors are set aside, and the others are compiled again without them, against their last
 * good classes.
 */
public final class JavacBackend implements Backend {
    private final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();

    @Override
    public String name() {
        return "javac";
    }

    @Override
    public String version() {
        return System.getProperty("java.version");
    }

    @Override
    public int newestLevel() {
        return Runtime.version().feature();
    }

    @Override
    public Map<Unit, Compiled> compile(
            Module module, List<Unit> files, Timing timing, BooleanSupplier cancelled)
            throws Cancelled {
        Map<Unit, Compiled> results = new LinkedHashMap<>();
        List<Unit> rest = new ArrayList<>(files);
        while (!rest.isEmpty()) {
            if (cancelled.getAsBoolean()) throw new Cancelled();
            if (compiler == null) return setAside(results, rest, "this Java has no compiler");
            JavacRun run;
            long began = System.nanoTime();
            try {
                run = new JavacRun(compiler, module, rest);
            } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
                if (rest.size() == 1)
                    return setAside(results, rest, "the compiler gave up: " + broken);
                // One of them breaks the compiler, and it does not say which.
                for (Unit file : rest)
                    results.putAll(compile(module, List.of(file), timing, cancelled));
                return results;
            }
            timing.round(rest.size(), 0, System.nanoTime() - began);
            Map<Unit, List<Problem>> broken = run.errors();
            if (broken.isEmpty()) {
                if (run.fault() != null) return setAside(results, rest, run.fault());
                for (Unit file : rest) results.put(file, compiled(file, run.classes(file)));
                return results;
            }
            broken.forEach(
                    (file, problems) ->
                            results.put(file, Compiled.without(Status.WITHHELD, problems)));
            rest.removeAll(broken.keySet());
        }
        return results;
    }

    private static Map<Unit, Compiled> setAside(
            Map<Unit, Compiled> results, List<Unit> files, String why) {
        for (Unit file : files) results.put(file, Compiled.failed(why));
        return results;
    }

    private static Compiled compiled(Unit file, List<ClassOutput> classes) {
        Set<String> declared = new TreeSet<>();
        String packageName = "";
        for (ClassOutput output : classes) {
            int slash = output.name().lastIndexOf('/');
            if (slash >= 0) packageName = output.name().substring(0, slash).replace('/', '.');
            if (output.name().indexOf('$', slash + 2) < 0) declared.add(output.name());
        }
        return new Compiled(
                Status.COMPILED,
                false,
                false,
                true,
                null,
                List.of(),
                classes,
                packageName,
                declared,
                WordReferences.in(file.source().text()));
    }
}
