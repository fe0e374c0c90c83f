package snarl.compiler.classpath;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** The documented API of an older Java version, from a JDK's ct.sym. */
final class SymbolLocation extends IndexedLocation {
    private final ZipFile zip;
    private final Map<String, ZipEntry> entries = new HashMap<>();

    /** Fails if the file knows nothing of that version, as of the JDK's own. */
    SymbolLocation(File file, int release) throws IOException {
        zip = new ZipFile(file);
        // The first part of a name lists the versions that share the entry, one letter each.
        char letter = Character.toUpperCase(Character.forDigit(release, Character.MAX_RADIX));
        zip.stream().forEach(entry -> add(entry, letter));
        if (entries.isEmpty()) {
            zip.close();
            throw new IOException(file + " does not know Java " + release);
        }
    }

    private void add(ZipEntry entry, char letter) {
        String name = entry.getName();
        int versions = name.indexOf('/');
        if (!name.endsWith(".sig") || versions < 0 || name.contains("-modules/")) return;
        if (name.lastIndexOf(letter, versions) < 0) return;
        String rest = name.substring(versions + 1, name.length() - ".sig".length());
        int next = rest.indexOf('/');
        // Since Java 12 the module comes next; its name has a dot, which no package directory has.
        if (next >= 0 && rest.substring(0, next).indexOf('.') >= 0) rest = rest.substring(next + 1);
        if (rest.equals("module-info")) return;
        entries.put(rest, entry);
        add(rest);
    }

    @Override
    protected byte[] load(String className) throws IOException {
        try (InputStream in = zip.getInputStream(entries.get(className))) {
            return in.readAllBytes();
        }
    }

    @Override
    public void close() throws IOException {
        zip.close();
    }
}
