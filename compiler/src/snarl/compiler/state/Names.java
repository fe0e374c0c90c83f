package snarl.compiler.state;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What names say by themselves: internal names of classes, and paths of files. */
final class Names {
    private Names() {}

    /** The package of a class, with slashes. */
    static String packageOf(String className) {
        return className.substring(0, Math.max(0, className.lastIndexOf('/')));
    }

    /** The classes that this one may be nested in, as far as its name tells; from outside in. */
    static List<String> around(String className) {
        List<String> names = new ArrayList<>();
        int first = className.lastIndexOf('/') + 2;
        for (int at = className.indexOf('$', first); at > 0; at = className.indexOf('$', at + 1))
            names.add(className.substring(0, at));
        return names;
    }

    /** Whether the class is one of the types, or inside one as far as its name tells. */
    static boolean isIn(Set<String> types, String className) {
        return types.contains(className) || around(className).stream().anyMatch(types::contains);
    }

    /** A file as the classes made from it name it: its package with slashes, and its last name. */
    static String origin(String packageName, String path) {
        String file = path.substring(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
        return packageName.isEmpty() ? file : packageName + "/" + file;
    }
}
