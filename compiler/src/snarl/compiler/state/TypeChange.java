package snarl.compiler.state;

import java.util.Set;

/**
 * Something that files may refer to has changed: a top-level type with all that is nested in it, or
 * a package.
 *
 * @param packageName with dots; where the type or package is
 * @param names the only members that have changed; null if more has
 */
record TypeChange(String packageName, String simpleName, Set<String> names) {
    boolean concerns(Unit unit) {
        return unit.references().mayMean(packageName, simpleName)
                && (names == null || unit.source().mentionsAny(names));
    }

    /** A change of a class with this internal name, which may be nested. */
    static TypeChange of(String className, Set<String> names) {
        int slash = className.lastIndexOf('/');
        String simple = className.substring(slash + 1);
        int dollar = simple.indexOf('$', 1);
        return new TypeChange(
                slash < 0 ? "" : className.substring(0, slash).replace('/', '.'),
                dollar < 0 ? simple : simple.substring(0, dollar),
                names);
    }

    /** A package that has come or gone; written with dots. */
    static TypeChange ofPackage(String name) {
        int dot = name.lastIndexOf('.');
        return new TypeChange(dot < 0 ? "" : name.substring(0, dot), name.substring(dot + 1), null);
    }
}
