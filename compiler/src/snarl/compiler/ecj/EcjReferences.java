package snarl.compiler.ecj;

import org.eclipse.jdt.core.compiler.CharOperation;
import org.eclipse.jdt.internal.compiler.CompilationResult;

import snarl.compiler.state.References;

import java.util.HashSet;
import java.util.Set;

/**
 * What the compiler has looked up on behalf of a file: simple names, and qualified names with all
 * their prefixes. Names that were not found are in it too, so a type that appears later finds those
 * who missed it.
 */
final class EcjReferences implements References {
    private final Set<String> simple;
    private final Set<String> qualified;

    private EcjReferences(Set<String> simple, Set<String> qualified) {
        this.simple = simple;
        this.qualified = qualified;
    }

    /** Everything, if the compiler gave up before it had written the names down. */
    static References of(CompilationResult result) {
        if (result.simpleNameReferences == null || result.qualifiedReferences == null)
            return References.EVERYTHING;
        Set<String> simple = new HashSet<>();
        for (char[] name : result.simpleNameReferences) simple.add(new String(name).intern());
        for (char[] name : result.rootReferences) simple.add(new String(name).intern());
        Set<String> qualified = new HashSet<>();
        for (char[][] name : result.qualifiedReferences)
            qualified.add(CharOperation.toString(name).intern());
        return new EcjReferences(simple, qualified);
    }

    @Override
    public boolean mayMean(String packageName, String simpleName) {
        if (!simple.contains(simpleName)) return false;
        if (packageName.isEmpty()) return true;
        // A package of one part is written down as a simple name.
        return packageName.indexOf('.') < 0
                ? simple.contains(packageName)
                : qualified.contains(packageName);
    }
}
