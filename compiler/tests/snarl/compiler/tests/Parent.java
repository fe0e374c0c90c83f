package snarl.compiler.tests;

import snarl.compiler.shape.Difference;
import snarl.compiler.state.Answer;
import snarl.compiler.state.Compiled.ClassOutput;
import snarl.compiler.wire.Request;
import snarl.compiler.wire.Request.Edit;
import snarl.compiler.wire.Request.FileText;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * A parent whose project has more sources than the session: those that nobody has edited are only
 * known as classes of a build. It sends them too as soon as something that concerns them has
 * changed, as PROTOCOL.md says.
 */
final class Parent {
    private final Project project;

    /** The sources that are not in the session, with the classes that were built of them. */
    private final Map<String, Source> closed = new TreeMap<>();

    private final Map<String, Source> all = new TreeMap<>();

    private record Source(String text, List<Outline> classes) {}

    /** What one class says of others. */
    private record Outline(String name, List<String> supertypes, Set<String> words) {}

    /**
     * @param texts of all sources, by path
     * @param built by path
     */
    Parent(Project project, Map<String, String> texts, Map<String, List<ClassOutput>> built) {
        this.project = project;
        texts.forEach(
                (path, text) -> {
                    List<Outline> classes = new ArrayList<>();
                    for (ClassOutput output : built.getOrDefault(path, List.of()))
                        classes.add(outline(output.bytes()));
                    all.put(path, new Source(text, classes));
                });
        closed.putAll(all);
    }

    Set<String> open() {
        Set<String> open = new TreeSet<>(all.keySet());
        open.removeAll(closed.keySet());
        return open;
    }

    /** Sends the texts, and then every source that these concern. */
    void put(Map<String, String> texts) {
        Map<String, String> next = texts;
        while (!next.isEmpty()) {
            List<Edit> edits = new ArrayList<>();
            next.forEach(
                    (path, text) -> edits.add(new Request.Replace(new FileText(path, text))));
            closed.keySet().removeAll(next.keySet());
            next = concerned(project.edit("m", edits.toArray(new Edit[0])));
        }
    }

    /** Takes a source out of the session whose classes are those of the build. */
    void close(String path) {
        closed.put(path, all.get(path));
        put(concerned(project.remove(path)));
    }

    private Map<String, String> concerned(Answer answer) {
        Map<String, Difference> changed = new TreeMap<>();
        Map<String, String> found = new TreeMap<>();
        for (Answer.OfModule module : answer.modules()) {
            for (Answer.File file : module.files()) {
                changed.putAll(file.changed());
                for (Answer.ClassFile one : file.classes())
                    found.putAll(rivals(one.output().name()));
            }
        }
        changed.forEach(
                (name, difference) -> {
                    Set<String> types = withSubtypes(name);
                    closed.forEach(
                            (path, source) -> {
                                if (refers(source, types) && mentions(source, difference))
                                    found.put(path, source.text);
                            });
                });
        return found;
    }

    /** Those that have a type which turns out to be another file's. */
    private Map<String, String> rivals(String className) {
        Map<String, String> found = new TreeMap<>();
        closed.forEach(
                (path, source) -> {
                    if (source.classes.stream().anyMatch(one -> one.name.equals(className)))
                        found.put(path, source.text);
                });
        return found;
    }

    private static boolean refers(Source source, Set<String> types) {
        for (String type : types) {
            int begin = Math.max(type.lastIndexOf('/'), type.lastIndexOf('$')) + 1;
            if (hasWord(source.text, type.substring(begin))) return true;
            for (Outline known : source.classes) {
                if (known.words.contains(type)) return true;
            }
        }
        return false;
    }

    private static boolean mentions(Source source, Difference difference) {
        return difference.whole()
                || difference.members().stream().anyMatch(name -> hasWord(source.text, name));
    }

    private static boolean hasWord(String text, String word) {
        return Pattern.compile("\\b" + Pattern.quote(word) + "\\b").matcher(text).find();
    }

    /** As the classes are now, and as they were built. */
    private Set<String> withSubtypes(String type) {
        Map<String, Set<String>> subtypes = new HashMap<>();
        List<Outline> known = new ArrayList<>();
        all.values().forEach(source -> known.addAll(source.classes));
        project.classes().values().forEach(output -> known.add(outline(output.bytes())));
        for (Outline one : known) {
            for (String above : one.supertypes)
                subtypes.computeIfAbsent(above, none -> new HashSet<>()).add(one.name);
        }
        Set<String> found = new TreeSet<>();
        List<String> left = new ArrayList<>(List.of(type));
        while (!left.isEmpty()) {
            String next = left.remove(left.size() - 1);
            if (found.add(next)) left.addAll(subtypes.getOrDefault(next, Set.of()));
        }
        return found;
    }

    private static void addNames(String word, Set<String> names) {
        names.add(word);
        // In descriptors a letter stands before it, and perhaps others before that.
        for (int at = word.indexOf('L'); at >= 0; at = word.indexOf('L', at + 1))
            names.add(word.substring(at + 1));
    }

    /** All texts in its constants, cut into names of classes. */
    private static Outline outline(byte[] classFile) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(classFile))) {
            in.readLong();
            int count = in.readUnsignedShort();
            String[] texts = new String[count];
            int[] classes = new int[count];
            Set<String> words = new HashSet<>();
            for (int i = 1; i < count; i++) {
                int tag = in.readUnsignedByte();
                switch (tag) {
                    case 1 -> {
                        texts[i] = in.readUTF();
                        for (String word : texts[i].split("[^\\w/$]")) addNames(word, words);
                    }
                    case 7 -> classes[i] = in.readUnsignedShort();
                    case 8, 16, 19, 20 -> in.readUnsignedShort();
                    case 15 -> in.skipNBytes(3);
                    case 5, 6 -> {
                        in.skipNBytes(8);
                        i++;
                    }
                    default -> in.skipNBytes(4);
                }
            }
            in.readUnsignedShort();
            String name = texts[classes[in.readUnsignedShort()]];
            List<String> supertypes = new ArrayList<>();
            int above = in.readUnsignedShort();
            if (above != 0) supertypes.add(texts[classes[above]]);
            for (int left = in.readUnsignedShort(); left > 0; left--)
                supertypes.add(texts[classes[in.readUnsignedShort()]]);
            return new Outline(name, supertypes, words);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
