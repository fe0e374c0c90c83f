package snarl.compiler.classpath;

/** What is left of a class path entry that cannot be opened. */
final class NoLocation extends IndexedLocation {
    @Override
    protected byte[] load(String className) {
        return null;
    }
}
