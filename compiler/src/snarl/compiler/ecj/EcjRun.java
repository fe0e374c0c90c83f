package snarl.compiler.ecj;

import org.eclipse.jdt.core.compiler.CompilationProgress;
import org.eclipse.jdt.internal.compiler.CompilationResult;
import org.eclipse.jdt.internal.compiler.Compiler;
import org.eclipse.jdt.internal.compiler.DefaultErrorHandlingPolicies;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.env.ICompilationUnit;
import org.eclipse.jdt.internal.compiler.impl.CompilerOptions;
import org.eclipse.jdt.internal.compiler.problem.AbortCompilation;
import org.eclipse.jdt.internal.compiler.problem.DefaultProblemFactory;

import snarl.compiler.state.Cancelled;
import snarl.compiler.state.Compiled;
import snarl.compiler.state.Module;
import snarl.compiler.state.Timing;
import snarl.compiler.state.Unit;

import java.io.OutputStream;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * One run of the compiler over some files. A file that breaks the compiler is noted as failed, and
 * the run goes on with the next one.
 */
final class EcjRun {
    private final Map<Unit, Compiled> results = new LinkedHashMap<>();
    private final Map<CompilationResult, EcjFindings> findings = new HashMap<>();
    private final Set<Unit> run;
    private String fault = "no reason is known";
    private int processed;
    private long declaring;
    private long began;

    EcjRun(
            Module module,
            List<Unit> files,
            CompilerOptions options,
            Timing timing,
            BooleanSupplier cancelled)
            throws Cancelled {
        run = new HashSet<>(files);
        List<ICompilationUnit> sources = new ArrayList<>();
        for (Unit file : files) sources.add(new EcjSource(file));
        Guarded compiler = new Guarded(new EcjNames(module, run), options, new Progress(cancelled));
        began = System.nanoTime();
        try {
            compiler.compile(sources.toArray(new ICompilationUnit[0]));
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
            if (broken instanceof RuntimeException) broken.printStackTrace();
            fault = broken.toString();
        }
        if (cancelled.getAsBoolean()) throw new Cancelled();
        long all = System.nanoTime() - began;
        if (declaring == 0) declaring = all;
        timing.round(processed, declaring, all - declaring);
    }

    /** Those that were given, and those it had to compile besides. */
    Set<Unit> files() {
        return run;
    }

    /** Of every file the run has finished. */
    Map<Unit, Compiled> results() {
        return results;
    }

    /** Why the run has ended early. */
    String fault() {
        return fault;
    }

    private void accept(CompilationResult result) {
        Unit unit = ((EcjSource) result.getCompilationUnit()).unit;
        EcjFindings found = findings.remove(result);
        if (found == null) {
            // The compiler ends the run here, and says why in the result of the file it was at.
            if (result.hasProblems()) fault = result.getProblems()[0].getMessage();
            return;
        }
        results.put(unit, found.result(result));
    }

    /** The compiler, with a look at each file after it was compiled and a guard around each. */
    private final class Guarded extends Compiler {
        Guarded(EcjNames names, CompilerOptions options, CompilationProgress progress) {
            super(
                    names,
                    DefaultErrorHandlingPolicies.proceedWithAllProblems(),
                    options,
                    EcjRun.this::accept,
                    new DefaultProblemFactory(Locale.ENGLISH),
                    new PrintWriter(OutputStream.nullOutputStream()),
                    progress);
            useSingleThread = true; // with more, the order of files would be left to chance
        }

        @Override
        protected synchronized void addCompilationUnit(
                ICompilationUnit source, CompilationUnitDeclaration unit) {
            Steady.declared(unit);
            super.addCompilationUnit(source, unit);
        }

        @Override
        public void initializeParser() {
            EcjNames names = (EcjNames) lookupEnvironment.nameEnvironment;
            parser =
                    new EcjParser(
                            problemReporter,
                            options.parseLiteralExpressionsAsConstants,
                            names::parsed);
        }

        @Override
        public void process(CompilationUnitDeclaration unit, int index) {
            if (declaring == 0) declaring = System.nanoTime() - began;
            processed++;
            EcjFindings found;
            try {
                compile(unit);
                found = EcjFindings.in(unit);
            } catch (AbortCompilation given) {
                if (given.isSilent) throw given; // the run is cancelled
                found =
                        EcjFindings.failed(
                                given.problem == null
                                        ? given.toString()
                                        : given.problem.getMessage());
            } catch (RuntimeException | StackOverflowError | OutOfMemoryError broken) {
                if (broken instanceof RuntimeException)
                    broken.printStackTrace(); // a mistake in the compiler or here
                found = EcjFindings.failed(broken.toString());
            }
            lookupEnvironment.unitBeingCompleted = null;
            findings.put(unit.compilationResult, found);
        }

        /**
         * The compiler's own steps, with what it leaves to chance or puts in the wrong place set
         * right in between.
         */
        private void compile(CompilationUnitDeclaration unit) {
            lookupEnvironment.unitBeingCompleted = unit;
            parser.getMethodBodies(unit);
            if (unit.scope != null) {
                unit.scope.faultInTypes();
                Steady.beforeVerification(unit);
                unit.scope.verifyMethods(lookupEnvironment.methodVerifier());
                Steady.verified(unit);
            }
            unit.resolve();
            Steady.resolved(unit);
            LambdaErrors.confine(unit);
            unit.analyseCode();
            LambdaErrors.confine(unit);
            unit.generateCode();
            if (unit.scope != null) unit.scope.storeDependencyInfo();
            unit.finalizeProblems();
            unit.compilationResult.totalUnitsKnown = totalUnits;
        }
    }

    private static final class Progress extends CompilationProgress {
        private final BooleanSupplier cancelled;

        Progress(BooleanSupplier cancelled) {
            this.cancelled = cancelled;
        }

        @Override
        public boolean isCanceled() {
            return cancelled.getAsBoolean();
        }

        @Override
        public void begin(int remainingWork) {}

        @Override
        public void done() {}

        @Override
        public void setTaskName(String name) {}

        @Override
        public void worked(int workIncrement, int remainingWork) {}
    }
}
