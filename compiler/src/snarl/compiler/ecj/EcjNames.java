package snarl.compiler.ecj;

import org.eclipse.jdt.core.compiler.CharOperation;
import org.eclipse.jdt.internal.compiler.ast.CompilationUnitDeclaration;
import org.eclipse.jdt.internal.compiler.ast.TypeDeclaration;
import org.eclipse.jdt.internal.compiler.classfmt.ClassFileReader;
import org.eclipse.jdt.internal.compiler.classfmt.ClassFormatException;
import org.eclipse.jdt.internal.compiler.env.INameEnvironment;
import org.eclipse.jdt.internal.compiler.env.NameEnvironmentAnswer;

import snarl.compiler.state.Found;
import snarl.compiler.state.Lookup;
import snarl.compiler.state.Module;
import snarl.compiler.state.Unit;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Answers the compiler's questions about names during one run, as {@link Lookup} says. Files of the
 * run itself are not answered: the compiler has them.
 */
final class EcjNames implements INameEnvironment {
    private final Module module;
    private final Set<Unit> run;
    private final Lookup lookup;

    /**
     * @param run the files of the run; grows when sources are answered
     */
    EcjNames(Module module, Set<Unit> run) {
        this.module = module;
        this.run = run;
        this.lookup = new Lookup(module, run);
    }

    /** A file of the run has been parsed. */
    void parsed(CompilationUnitDeclaration unit) {
        EcjSource source = (EcjSource) unit.compilationResult.getCompilationUnit();
        String packageName =
                unit.currentPackage == null
                        ? ""
                        : CharOperation.toString(unit.currentPackage.tokens);
        String prefix = packageName.isEmpty() ? "" : packageName.replace('.', '/') + "/";
        List<String> types = new ArrayList<>();
        if (unit.types != null) {
            for (TypeDeclaration type : unit.types) types.add(prefix + new String(type.name));
        }
        lookup.declares(source.unit, packageName, types);
    }

    @Override
    public NameEnvironmentAnswer findType(char[][] compoundName) {
        return find(join(compoundName, compoundName.length, '/'));
    }

    @Override
    public NameEnvironmentAnswer findType(char[] typeName, char[][] packageName) {
        String simple = new String(typeName);
        return find(
                packageName.length == 0
                        ? simple
                        : join(packageName, packageName.length, '/') + "/" + simple);
    }

    @Override
    public boolean isPackage(char[][] parentName, char[] name) {
        boolean top = parentName == null || parentName.length == 0;
        String dotted =
                top
                        ? new String(name)
                        : join(parentName, parentName.length, '.') + "." + new String(name);
        return lookup.hasPackage(dotted);
    }

    @Override
    public void cleanup() {}

    private NameEnvironmentAnswer find(String className) {
        Found found = lookup.find(className);
        if (found instanceof Found.Live live) {
            Unit owner = live.owner();
            boolean own = module.owner(className) == owner;
            if (own && owner.isDamaged() && module.showsDamagedSources()) {
                run.add(owner);
                return new NameEnvironmentAnswer(new EcjSource(owner), null);
            }
            return answer(live.offered().parsed(EcjNames::parse));
        }
        return found instanceof Found.Read read
                ? answer(read.location().made(className, ClassFileReader.class, EcjNames::parse))
                : null;
    }

    private static NameEnvironmentAnswer answer(ClassFileReader reader) {
        return reader == null ? null : new NameEnvironmentAnswer(reader, null);
    }

    /** Null for bytes that are no class file, as in jars that are half written. */
    private static ClassFileReader parse(String className, byte[] bytes) {
        try {
            return new ClassFileReader(bytes, (className + ".class").toCharArray(), true);
        } catch (ClassFormatException | RuntimeException broken) {
            return null;
        }
    }

    private static String join(char[][] parts, int count, char separator) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            if (i > 0) text.append(separator);
            text.append(parts[i]);
        }
        return text.toString();
    }
}
