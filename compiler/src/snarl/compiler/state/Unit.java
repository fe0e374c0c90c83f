package snarl.compiler.state;

import snarl.compiler.shape.Difference;
import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.state.Compiled.Status;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
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
    private NavigableMap<String, OfferedClass> offered = new TreeMap<>();

    /** The top-level types of which others see what this file offers and nothing else. */
    private Set<String> says = Set.of();

    /** What classes made from this file say of their source: as it was first seen, and is now. */
    private Set<String> origins = Set.of();

    private String firstOrigin;

    /** Whether the offered classes are of a text that was fit for others. */
    private boolean settled;

    private String offeredOutline;
    private Map<String, byte[]> told = Map.of();

    /** Whether the last text is kept from others. */
    private boolean held;

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

    public NavigableMap<String, OfferedClass> offered() {
        return offered;
    }

    Set<String> says() {
        return says;
    }

    Set<String> origins() {
        return origins;
    }

    /** The text that others are shown in place of classes, or null. */
    String outline() {
        return offeredOutline;
    }

    /** Whether others see something else than the last text. */
    boolean isHeld() {
        return held;
    }

    /** Whether it depends on what a build has made what others see of this file. */
    boolean waits() {
        return !settled;
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
     * Takes a new result.
     *
     * @param hold whether a damaged text is kept from others, as far as they have seen a better one
     * @param built what a build has left
     */
    void accept(Compiled result, boolean hold, Built built) {
        compiled = withKnownBytes(result);
        if (result.status() == Status.FAILED || result.status() == Status.WITHHELD)
            return; // nothing is known
        packageName = result.packageName();
        declared = result.declared();
        boolean half = result.outline() != null || result.syntaxErrors();
        held = hold && half && settled && !offered.isEmpty();
        if (hold && half && !held) offerBuilt(result, built);
        else if (!held) {
            offer(result.outline(), result.types(), Set.of());
            origins = built.origins(path, packageName);
            if (firstOrigin == null)
                firstOrigin = Names.origin(packageName.replace('.', '/'), path);
            origins.add(firstOrigin);
            settled = true;
        }
    }

    /** There was no better text than this damaged one, but there may be classes of one. */
    private void offerBuilt(Compiled result, Built built) {
        settled = false;
        origins = Set.of();
        Set<String> others = result.types();
        held = others.removeIf(built::has);
        for (String origin : built.origins(path, packageName))
            held |= !built.typesFrom(origin).isEmpty();
        if (held) offer(null, others, says);
        else if (offered.isEmpty()) offer(result.outline(), others, Set.of());
    }

    /**
     * @param types of which others see what this file offers from now on
     * @param kept those among them of which they go on seeing what they have seen
     */
    private void offer(String outline, Set<String> types, Set<String> kept) {
        NavigableMap<String, OfferedClass> before = offered;
        offered = new TreeMap<>();
        for (ClassOutput output : compiled.classes()) {
            String name = output.name();
            if (!Names.isIn(types, name) || Names.isIn(kept, name)) continue;
            OfferedClass same = before.get(name);
            boolean unchanged = same != null && same.bytes() == output.bytes();
            offered.put(name, unchanged ? same : new OfferedClass(name, output.bytes()));
        }
        before.forEach(
                (name, known) -> {
                    if (Names.isIn(types, name) && Names.isIn(kept, name)) offered.put(name, known);
                });
        says = types;
        offeredOutline = outline;
    }

    /** The answer about this file, after which the parent knows what it holds. */
    Answer.File tell(Map<String, Difference> changed) {
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
        return new Answer.File(path, compiled, dependent, classes, changed);
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
}
