package snarl.compiler.ecj;

import org.eclipse.jdt.internal.compiler.classfmt.ClassFileConstants;
import org.eclipse.jdt.internal.compiler.impl.CompilerOptions;

import snarl.compiler.state.Backend;
import snarl.compiler.state.Cancelled;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Module;
import snarl.compiler.state.Timing;
import snarl.compiler.state.Unit;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.ResourceBundle;
import java.util.function.BooleanSupplier;

/**
 * The Eclipse compiler as a {@link Backend}. It starts runs and sees to it that every file gets a
 * result, even if the compiler gives up on the whole run; what happens inside a run is the business
 * of {@link EcjRun}.
 */
public final class EcjBackend implements Backend {
    private static final String MESSAGES = "org.eclipse.jdt.internal.compiler.batch.messages";

    private final String version;

    /** Fails with a LinkageError where the compiler is not on the class path. */
    public EcjBackend() {
        version =
                ResourceBundle.getBundle(
                                MESSAGES, Locale.ROOT, CompilerOptions.class.getClassLoader())
                        .getString("compiler.version");
    }

    @Override
    public String name() {
        return "ecj";
    }

    @Override
    public String version() {
        return version;
    }

    @Override
    public int newestLevel() {
        return ClassFileConstants.MAJOR_LATEST_VERSION - ClassFileConstants.MAJOR_VERSION_0;
    }

    @Override
    public Map<Unit, Compiled> compile(
            Module module, List<Unit> files, Timing timing, BooleanSupplier cancelled)
            throws Cancelled {
        CompilerOptions options = new EcjOptions(module.config());
        List<Unit> all = files;
        EcjRun run = new EcjRun(module, all, options, timing, cancelled);
        while (run.files().size() > all.size()) {
            // It had to look into damaged sources besides. What it makes of damage depends on the
            // order of the
            // files, so they are compiled together from the start.
            all = module.withRivals(run.files());
            run = new EcjRun(module, all, options, timing, cancelled);
        }
        Map<Unit, Compiled> results = new LinkedHashMap<>(run.results());
        List<Unit> without = new ArrayList<>(all);
        without.removeAll(results.keySet());
        if (without.isEmpty()) return results;

        // Something in one of the files has ended the whole run before their turn came. Each by
        // itself is slower
        // and sees less of the others, but keeps the damage where it belongs.
        for (Unit file : without) {
            EcjRun alone = new EcjRun(module, List.of(file), options, timing, cancelled);
            Compiled result = alone.results().get(file);
            results.put(
                    file,
                    result != null
                            ? result
                            : Compiled.failed("the compiler gave up: " + alone.fault()));
        }
        return results;
    }
}
