package snarl.compiler.tests;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Runs tests that are given as a sentence and a body, and says which sentences do not hold. A test
 * library would have to be fetched and would do no more than this here.
 */
final class Suite {
    interface Body {
        void run() throws Exception;
    }

    private final Map<String, Body> tests = new LinkedHashMap<>();

    void test(String sentence, Body body) {
        if (tests.put(sentence, body) != null)
            throw new IllegalStateException("two tests say: " + sentence);
    }

    /** Whether all hold. Only those whose sentence contains the text are run. */
    boolean run(String only) {
        int passed = 0;
        int failed = 0;
        for (Map.Entry<String, Body> test : tests.entrySet()) {
            if (!test.getKey().contains(only)) continue;
            long began = System.nanoTime();
            try {
                test.getValue().run();
                passed++;
            } catch (Throwable wrong) {
                failed++;
                System.out.println("FAILED " + test.getKey());
                wrong.printStackTrace(System.out);
            }
            long millis = (System.nanoTime() - began) / 1_000_000;
            if (millis > 1000) System.out.println("slow (" + millis + " ms): " + test.getKey());
        }
        System.out.println(passed + " passed, " + failed + " failed");
        return failed == 0 && passed > 0;
    }

    static void equal(Object expected, Object found) {
        if (!expected.equals(found))
            throw new AssertionError("expected " + expected + "\n   found " + found);
    }

    static void holds(boolean condition, Object about) {
        if (!condition) throw new AssertionError(about);
    }
}
