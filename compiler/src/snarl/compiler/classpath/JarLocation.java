package snarl.compiler.classpath;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * The classes of a jar, also of a Java 8 home's rt.jar. Versions for newer runtimes inside the jar
 * are not seen.
 */
final class JarLocation extends IndexedLocation {
    private final ZipFile zip;

    JarLocation(File file) throws IOException {
        zip = new ZipFile(file);
        zip.stream()
                .forEach(
                        entry -> {
                            String name = entry.getName();
                            if (name.endsWith(".class")
                                    && !name.startsWith("META-INF/")
                                    && !name.equals("module-info.class")) {
                                add(name.substring(0, name.length() - ".class".length()));
                            }
                        });
    }

    @Override
    protected byte[] load(String className) throws IOException {
        ZipEntry entry = zip.getEntry(className + ".class");
        if (entry == null) return null;
        try (InputStream in = zip.getInputStream(entry)) {
            return in.readAllBytes();
        }
    }

    @Override
    public void close() throws IOException {
        zip.close();
    }
}
