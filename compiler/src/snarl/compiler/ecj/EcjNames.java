package snarl.compiler.ecj;

import org.eclipse.jdt.internal.compiler.classfmt.ClassFileReader;
import org.eclipse.jdt.internal.compiler.classfmt.ClassFormatException;
import org.eclipse.jdt.internal.compiler.env.INameEnvironment;
import org.eclipse.jdt.internal.compiler.env.NameEnvironmentAnswer;

import snarl.compiler.classpath.Location;
import snarl.compiler.state.Module;
import snarl.compiler.state.OfferedClass;
import snarl.compiler.state.Unit;

import java.util.Set;

/**
 * Answers the compiler's questions about names during one run: first the module's own files, then
 * the modules it depends on, then the JDK and the class path. Files of the run itself are not
 * answered: the compiler has them.
 */
final class EcjNames implements INameEnvironment {
    private final Module module;
    private final Set<Unit> run;

    /**
     * @param run the files of the run; grows when sources are answered
     */
    EcjNames(Module module, Set<Unit> run) {
        this.module = module;
        this.run = run;
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
        if (module.hasPackageBesides(run, dotted)) return true;
        for (Module dependency : module.dependencies()) {
            if (dependency.hasPackage(dotted)) return true;
        }
        return module.classPath().hasPackage(dotted.replace('.', '/'));
    }

    @Override
    public void cleanup() {}

    private NameEnvironmentAnswer find(String className) {
        Unit owner = module.owner(className);
        if (owner != null && !run.contains(owner)) {
            if (owner.isDamaged() && module.showsDamagedSources()) {
                run.add(owner);
                return new NameEnvironmentAnswer(new EcjSource(owner), null);
            }
            return answer(owner.offered().get(className));
        }
        for (Module dependency : module.dependencies()) {
            OfferedClass offered = dependency.offered(className);
            if (offered != null) return answer(offered);
        }
        Location location = module.classPath().find(className);
        ClassFileReader reader =
                location == null ? null : location.parsed(className, EcjNames::parse);
        return reader == null ? null : new NameEnvironmentAnswer(reader, null);
    }

    private static NameEnvironmentAnswer answer(OfferedClass offered) {
        ClassFileReader reader = offered.parsed(EcjNames::parse);
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
