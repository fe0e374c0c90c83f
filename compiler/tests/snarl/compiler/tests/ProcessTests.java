package snarl.compiler.tests;

/** The process as its parent sees it. */
final class ProcessTests {
    private ProcessTests() {}

    static void add(Suite suite) {}
}
