package snarl.compiler.state;

/** Where the time of a request went. Only counts; whoever does the work adds to it. */
public final class Timing {
    private final long began = System.nanoTime();
    private long declaring;
    private long compiling;
    private int rounds;
    private int files;

    /** A run of the compiler over so many files; times in nanoseconds. */
    public void round(int fileCount, long declaringTime, long compilingTime) {
        rounds++;
        files += fileCount;
        declaring += declaringTime;
        compiling += compilingTime;
    }

    public long totalMicros() {
        return (System.nanoTime() - began) / 1000;
    }

    /** Parsing and connecting the declarations. */
    public long declaringMicros() {
        return declaring / 1000;
    }

    /** Method bodies: resolving, flow analysis, code. */
    public long compilingMicros() {
        return compiling / 1000;
    }

    public int rounds() {
        return rounds;
    }

    /** Counts a file as often as it was compiled. */
    public int files() {
        return files;
    }
}
