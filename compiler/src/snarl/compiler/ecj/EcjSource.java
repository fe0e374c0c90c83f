package snarl.compiler.ecj;

import org.eclipse.jdt.internal.compiler.env.ICompilationUnit;
import org.eclipse.jdt.internal.compiler.lookup.LookupEnvironment;
import org.eclipse.jdt.internal.compiler.lookup.ModuleBinding;

import snarl.compiler.state.Unit;

/**
 * A source file as the compiler wants to see it. Names of files and directories are not held
 * against it.
 */
final class EcjSource implements ICompilationUnit {
    final Unit unit;

    EcjSource(Unit unit) {
        this.unit = unit;
    }

    @Override
    public char[] getContents() {
        return unit.source().text().toCharArray();
    }

    @Override
    public char[] getFileName() {
        return unit.path().toCharArray();
    }

    /**
     * The one name that matters is that of package descriptions; else public types may live where
     * they like.
     */
    @Override
    public char[] getMainTypeName() {
        return unit.path().endsWith("package-info.java") ? "package-info".toCharArray() : null;
    }

    /** Null means: whatever the file says, wherever it is. */
    @Override
    public char[][] getPackageName() {
        return null;
    }

    /** Everything is compiled as on the class path. */
    @Override
    public ModuleBinding module(LookupEnvironment environment) {
        return environment.UnNamedModule;
    }

    @Override
    public boolean ignoreOptionalProblems() {
        return true;
    }

    @Override
    public String toString() {
        return unit.path();
    }
}
