package snarl.compiler.shape;

import java.util.Set;

/**
 * What others see differently of a class.
 *
 * @param whole whether it is more than the members; if not, it matters only to those who also write
 *     one of their names
 * @param members names of fields and private methods, sorted
 */
public record Difference(boolean whole, Set<String> members) {
    public static final Difference NONE = new Difference(false, Set.of());

    public boolean isNone() {
        return !whole && members.isEmpty();
    }
}
