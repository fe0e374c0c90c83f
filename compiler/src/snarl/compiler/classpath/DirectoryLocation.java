package snarl.compiler.classpath;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * The class files below a directory, as it was when it was opened; what has gone since then reads
 * as nothing.
 */
final class DirectoryLocation extends IndexedLocation {
    private static final String ENDING = ".class";

    private final Path root;

    DirectoryLocation(Path root) {
        this.root = root;
        addBelow(root.toFile(), "");
    }

    /** Asks the disk as little as it can: directories of thousands of classes are opened often. */
    private void addBelow(File directory, String prefix) {
        String[] names = directory.list();
        if (names == null) return; // a build may be clearing the directory
        for (String name : names) {
            if (name.endsWith(ENDING)) {
                String className = prefix + name.substring(0, name.length() - ENDING.length());
                if (!className.equals("module-info")) add(className);
            } else if (isPackageName(name)) {
                File below = new File(directory, name);
                if (Files.isDirectory(below.toPath(), LinkOption.NOFOLLOW_LINKS))
                    addBelow(below, prefix + name + "/");
            }
        }
    }

    /** Resources have endings, packages have none. */
    private static boolean isPackageName(String name) {
        return name.indexOf('.') < 0 && name.indexOf('-') < 0;
    }

    @Override
    protected byte[] load(String className) throws IOException {
        return Files.readAllBytes(root.resolve(className + ENDING));
    }
}
