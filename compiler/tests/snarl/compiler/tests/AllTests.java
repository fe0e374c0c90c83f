package snarl.compiler.tests;

/** All tests of the compiler process; arguments: a part of the sentences to run. */
public final class AllTests {
    private AllTests() {}

    public static void main(String[] arguments) throws InterruptedException {
        Suite suite = new Suite();
        SignatureTests.add(suite);
        BrokenSourceTests.add(suite);
        DependentTests.add(suite);
        FileTests.add(suite);
        LevelTests.add(suite);
        ClassPathTests.add(suite);
        BuiltClassTests.add(suite);
        JavacTests.add(suite);
        ProcessTests.add(suite);
        OwnSourceTests.add(suite);
        RandomEditTests.add(suite);
        RandomBuiltTests.add(suite);
        boolean[] fine = new boolean[1];
        // As large as the process itself gives its compiler.
        Thread thread =
                new Thread(
                        null,
                        () -> fine[0] = suite.run(arguments.length == 0 ? "" : arguments[0]),
                        "tests",
                        128L << 20);
        thread.start();
        thread.join();
        System.exit(fine[0] ? 0 : 1);
    }
}
