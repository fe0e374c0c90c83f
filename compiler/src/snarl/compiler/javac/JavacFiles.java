package snarl.compiler.javac;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;

import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.state.Found;
import snarl.compiler.state.Lookup;
import snarl.compiler.state.Module;
import snarl.compiler.state.OfferedClass;
import snarl.compiler.state.Unit;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;

/**
 * What javac sees of the world: the classes of the module's other files and of the modules it
 * depends on, before the class path. What it writes stays in memory.
 */
final class JavacFiles extends ForwardingJavaFileManager<StandardJavaFileManager> {
    private final Module module;
    private final Set<Unit> run;
    private final Lookup lookup;

    /** The compiler shows its listeners files in wrappings, of which only this is left. */
    private final Map<URI, Unit> byPlace = new HashMap<>();

    private final Map<Unit, List<ClassOutput>> outputs = new HashMap<>();

    JavacFiles(StandardJavaFileManager standard, Module module, Set<Unit> run) throws IOException {
        super(standard);
        this.module = module;
        this.run = run;
        this.lookup = new Lookup(module, run);
        for (Unit unit : run) byPlace.put(Source.place(unit), unit);
        List<File> path = new ArrayList<>();
        for (String entry : module.config().classPath()) path.add(new File(entry));
        standard.setLocation(StandardLocation.CLASS_PATH, path);
        standard.setLocation(StandardLocation.SOURCE_PATH, List.of());
    }

    /** A file of the run has been parsed. */
    void parsed(CompilationUnitTree tree) {
        Unit unit = byPlace.get(tree.getSourceFile().toUri());
        if (unit == null) return;
        String packageName =
                tree.getPackageName() == null ? "" : tree.getPackageName().toString();
        String prefix = packageName.isEmpty() ? "" : packageName.replace('.', '/') + "/";
        List<String> types = new ArrayList<>();
        for (Tree declared : tree.getTypeDecls()) {
            if (declared instanceof ClassTree type) types.add(prefix + type.getSimpleName());
        }
        lookup.declares(unit, packageName, types);
    }

    Map<Unit, List<ClassOutput>> outputs() {
        return outputs;
    }

    @Override
    public Iterable<JavaFileObject> list(
            Location location, String packageName, Set<JavaFileObject.Kind> kinds, boolean recurse)
            throws IOException {
        Iterable<JavaFileObject> listed = super.list(location, packageName, kinds, recurse);
        if (location != StandardLocation.CLASS_PATH || !kinds.contains(JavaFileObject.Kind.CLASS))
            return listed;
        Set<String> names = new HashSet<>();
        List<JavaFileObject> found = new ArrayList<>();
        String slashed = packageName.replace('.', '/');
        for (OfferedClass offered : module.offeredIn(slashed)) {
            if (run.contains(module.owner(offered.name()))) continue;
            if (names.add(offered.name())) found.add(new Known(offered));
        }
        for (Module dependency : module.dependencies()) {
            for (OfferedClass offered : dependency.offeredIn(slashed)) {
                boolean seen = lookup.find(offered.name()) instanceof Found.Live;
                if (seen && names.add(offered.name())) found.add(new Known(offered));
            }
        }
        for (JavaFileObject file : listed) {
            String name = super.inferBinaryName(location, file);
            if (name == null || isSeen(name.replace('.', '/'), names)) found.add(file);
        }
        return found;
    }

    /** Whether a class of the class path is not covered by one in memory. */
    private boolean isSeen(String className, Set<String> names) {
        return !names.contains(className) && !lookup.isHidden(className);
    }

    @Override
    public String inferBinaryName(Location location, JavaFileObject file) {
        if (file instanceof Known known) return known.offered.name().replace('/', '.');
        return super.inferBinaryName(location, file);
    }

    @Override
    public boolean isSameFile(FileObject one, FileObject other) {
        return one == other
                || one instanceof Source a && other instanceof Source b && a.unit == b.unit;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
            Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
        return new Written(className.replace('.', '/'), ((Source) sibling).unit);
    }

    /** A source file of the run. */
    static final class Source extends SimpleJavaFileObject {
        final Unit unit;

        Source(Unit unit) {
            super(place(unit), Kind.SOURCE);
            this.unit = unit;
        }

        static URI place(Unit unit) {
            return Path.of(unit.path()).toUri();
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return unit.source().text();
        }

        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return true; // public types may live where they like
        }
    }

    private static final class Known extends SimpleJavaFileObject {
        final OfferedClass offered;

        Known(OfferedClass offered) {
            super(URI.create("memory:/" + offered.name().replace('$', '-') + ".class"), Kind.CLASS);
            this.offered = offered;
        }

        @Override
        public InputStream openInputStream() {
            return new ByteArrayInputStream(offered.bytes());
        }

        @Override
        public boolean isNameCompatible(String simpleName, Kind kind) {
            return kind == Kind.CLASS && offered.name().endsWith(simpleName);
        }
    }

    private final class Written extends SimpleJavaFileObject {
        private final String name;
        private final Unit source;

        Written(String name, Unit source) {
            super(URI.create("memory:/written.class"), Kind.CLASS);
            this.name = name;
            this.source = source;
        }

        @Override
        public OutputStream openOutputStream() {
            return new ByteArrayOutputStream() {
                @Override
                public void close() {
                    outputs.computeIfAbsent(source, none -> new ArrayList<>())
                            .add(new ClassOutput(name, toByteArray(), false, List.of(), List.of()));
                }
            };
        }
    }
}
