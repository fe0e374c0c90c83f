package snarl.compiler.javac;

import snarl.compiler.state.References;

import java.util.HashSet;
import java.util.Set;

/**
 * All words of a file: where the compiler does not say what a file refers to, whatever it names
 * counts.
 */
final class WordReferences implements References {
    private final Set<String> words;

    private WordReferences(Set<String> words) {
        this.words = words;
    }

    static References in(String text) {
        if (text.contains("\\u")) return References.EVERYTHING; // names may be written in escapes
        Set<String> words = new HashSet<>();
        int length = text.length();
        for (int i = 0; i < length; ) {
            if (!Character.isJavaIdentifierStart(text.charAt(i))) {
                i++;
                continue;
            }
            int from = i;
            while (i < length && Character.isJavaIdentifierPart(text.charAt(i))) i++;
            words.add(text.substring(from, i).intern());
        }
        return new WordReferences(words);
    }

    @Override
    public boolean mayMean(String packageName, String simpleName) {
        return words.contains(simpleName);
    }
}
