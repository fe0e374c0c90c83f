package snarl.compiler.state;

import snarl.compiler.shape.Difference;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Something that files may refer to has changed: a top-level type with all that is nested in it, or
 * a package.
 *
 * @param packageName with dots; where the type or package is
 * @param simpleNames the type may have any of these, since names may have dollars in them
 * @param names the only members that have changed; null if more has
 */
record TypeChange(String packageName, List<String> simpleNames, Set<String> names) {
    boolean concerns(Unit unit) {
        References references = unit.references();
        return simpleNames.stream().anyMatch(simple -> references.mayMean(packageName, simple))
                && (names == null || unit.source().mentionsAny(names));
    }

    /** A change of more than members of a class. */
    static TypeChange of(String className) {
        return of(className, new Difference(true, Set.of()));
    }

    /** A change of a class with this internal name, which may be nested. */
    static TypeChange of(String className, Difference difference) {
        Set<String> names = difference.whole() ? null : difference.members();
        List<String> simple = new ArrayList<>();
        int begin = className.lastIndexOf('/') + 1;
        for (String around : Names.around(className)) simple.add(around.substring(begin));
        simple.add(className.substring(begin));
        return new TypeChange(Names.packageOf(className).replace('/', '.'), simple, names);
    }

    /** A package that has come or gone; written with dots. */
    static TypeChange ofPackage(String name) {
        int dot = name.lastIndexOf('.');
        return new TypeChange(
                name.substring(0, Math.max(0, dot)), List.of(name.substring(dot + 1)), null);
    }
}
