// One small class for each thing the class reader has to know.

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.function.Supplier;

@interface Quiet {
    String[] value() default {};
}

@Retention(RetentionPolicy.RUNTIME)
@interface Loud {
    int number();
    char letter();
    long[] longs();
    Class<?> type();
    RetentionPolicy policy();
    Quiet nested();
}

class Counter {
    private int n;
    private static volatile long total;

    synchronized void increment() {
        n++;
    }

    int read(Object lock) {
        synchronized (lock) {
            total += n;
            return n;
        }
    }
}

class Switches {
    static String name(int n) {
        switch (n) {
            case 1: return "one";
            case 2: return "two";
            case 3: return "three";
            default: return "many";
        }
    }

    static int sparse(int n) {
        switch (n) {
            case -1000: return 1;
            case 0: return 2;
            case 1_000_000: return 3;
            default: return 0;
        }
    }
}

class Dynamic {
    Supplier<String> greet(String who, int n) {
        return () -> "hello " + who + n;
    }

    Runnable reference(Thread thread) {
        return thread::start;
    }
}

record Point(int x, double y) {}

@Quiet({"a", "b"})
class Annotated {
    @Loud(number = 1, letter = 'x', longs = {1, 2}, type = Point.class, policy = RetentionPolicy.CLASS,
          nested = @Quiet("deep"))
    int field;

    @Deprecated
    void old() throws java.io.IOException {}

    class Inner {
        Object anonymous() {
            return new Object() {};
        }
    }
}

class Numbers {
    static double mix(byte b, short s, char c, int i, long l, float f, double d, boolean z) {
        int[][] grid = new int[3][4];
        long[] longs = {1L, 5_000_000_000L};
        grid[1][2] = b + s - c * i / 7 % 5;
        longs[0] <<= i;
        String text = "z\u00e9ro \u0000 \ud83d\ude00 \ud800";
        return z ? grid[1][2] + (float) l * f : d - longs.length + text.length();
    }
}

class Handlers {
    static int careful(Object o) {
        try {
            return ((String) o).length();
        } catch (ClassCastException | NullPointerException e) {
            throw new IllegalStateException(e);
        } finally {
            System.out.println(o instanceof Number);
        }
    }
}
