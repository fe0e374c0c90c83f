package snarl.compiler.state;

import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.state.Compiled.Status;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One source file: its text, what the compiler last made of it, which classes others see of it, and
 * which the parent has been told. It knows nothing of the other files.
 */
public final class Unit {
    private final String path;
    private SourceText source;
    private Compiled compiled;
    private String packageName = "";
    private Set<String> declared = Set.of();
    private Map<String, OfferedClass> offered = Map.of();
    private String offeredOutline;
    private Map<String, byte[]> told = Map.of();

    /**
     * Whether the parent has changed the file since the last answer, rather than something it
     * refers to.
     */
    private boolean edited = true;

    Unit(String path, SourceText source) {
        this.path = path;
        this.source = source;
    }

    public String path() {
        return path;
    }

    public SourceText source() {
        return source;
    }

    public boolean isModuleDeclaration() {
        return path.endsWith("module-info.java");
    }

    /**
     * Whether others should see the source, because its declarations are damaged and the classes do
     * not tell all.
     */
    public boolean isDamaged() {
        return offeredOutline != null;
    }

    public Map<String, OfferedClass> offered() {
        return offered;
    }

    public String packageName() {
        return packageName;
    }

    Set<String> declared() {
        return declared;
    }

    References references() {
        return compiled == null ? References.NONE : compiled.references();
    }

    void edit(SourceText text) {
        source = text;
        edited = true;
    }

    /**
     * Takes a new result and answers which classes have changed for others: by name, with the
     * members that have changed, or null for more than members.
     */
    Map<String, Set<String>> accept(Compiled result, boolean hold) {
        compiled = withKnownBytes(result);
        if (result.status() == Status.FAILED || result.status() == Status.WITHHELD)
            return Map.of(); // nothing is known
        Set<String> all = new TreeSet<>(declared);
        packageName = result.packageName();
        declared = result.declared();
        all.addAll(declared);
        boolean half = result.outline() != null || result.syntaxErrors();
        if (hold && half && !offered.isEmpty()) return Map.of();
        Map<String, OfferedClass> before = offered;
        offered = new TreeMap<>();
        for (ClassOutput output : compiled.classes()) {
            OfferedClass same = before.get(output.name());
            boolean unchanged = same != null && same.bytes() == output.bytes();
            offered.put(
                    output.name(),
                    unchanged ? same : new OfferedClass(output.name(), output.bytes()));
        }
        Map<String, Set<String>> changed = differences(before, offered);
        if (!Objects.equals(offeredOutline, result.outline()))
            all.forEach(type -> changed.put(type, null));
        offeredOutline = result.outline();
        return changed;
    }

    /** The answer about this file, after which the parent knows what it holds. */
    Answer.File tell() {
        Map<String, byte[]> before = told;
        told = new HashMap<>();
        List<Answer.ClassFile> classes = new ArrayList<>();
        for (ClassOutput output : compiled.classes()) {
            told.put(output.name(), output.bytes());
            classes.add(new Answer.ClassFile(output, before.get(output.name()) == output.bytes()));
        }
        if (compiled.status() == Status.FAILED || compiled.status() == Status.WITHHELD)
            told = before;
        boolean dependent = !edited;
        edited = false;
        return new Answer.File(path, compiled, dependent, classes);
    }

    /**
     * The result with the very byte arrays that are known already, so that equal ones are kept
     * once.
     */
    private Compiled withKnownBytes(Compiled result) {
        List<ClassOutput> classes = new ArrayList<>();
        for (ClassOutput output : result.classes()) {
            byte[] bytes = output.bytes();
            byte[] last = told.get(output.name());
            OfferedClass other = offered.get(output.name());
            if (last != null && Arrays.equals(last, bytes)) bytes = last;
            else if (other != null && Arrays.equals(other.bytes(), bytes)) bytes = other.bytes();
            classes.add(
                    new ClassOutput(
                            output.name(),
                            bytes,
                            output.problemType(),
                            output.stubs(),
                            output.lost()));
        }
        return result.withClasses(classes);
    }

    private static Map<String, Set<String>> differences(
            Map<String, OfferedClass> before, Map<String, OfferedClass> after) {
        Map<String, Set<String>> changed = new TreeMap<>();
        Set<String> names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        for (String name : names) {
            OfferedClass old = before.get(name);
            OfferedClass now = after.get(name);
            if (old == now) continue;
            if (old == null || now == null) {
                if ((old == null ? now : old).signature().visible()) changed.put(name, null);
            } else {
                Set<String> members = old.signature().difference(now.signature());
                if (members == null || !members.isEmpty()) changed.put(name, members);
            }
        }
        return changed;
    }
}
