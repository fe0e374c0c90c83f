package snarl.compiler.state;

/** What a file refers to, as its compiler has seen it; may name too much, never too little. */
public interface References {
    /**
     * Whether something in the file may mean the top-level type or package of this name in this
     * package.
     */
    boolean mayMean(String packageName, String simpleName);

    References NONE = (packageName, simpleName) -> false;
    References EVERYTHING = (packageName, simpleName) -> true;
}
