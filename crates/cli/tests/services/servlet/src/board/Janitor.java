// Runs in a thread of its own until the application ends; pages show what it has done.
package board;

public class Janitor implements Runnable {
    private final Messages messages;
    private volatile boolean stopped;
    private volatile int rounds;
    private long lastRun;
    private int failed;

    Janitor(Messages messages) {
        this.messages = messages;
    }

    @Override
    public void run() {
        while (!stopped) {
            try {
                messages.archiveOld();
                rounds = rounds + 1; //~ no unprotected-write: rounds
                lastRun = System.currentTimeMillis(); //~ race: lastRun with line 39
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                failed++; //~ no unprotected-write: failed
                if (failed > 10) {
                    return;
                }
            }
        }
    }

    void stop() {
        stopped = true; //~ no race: stopped
    }

    public long lastRun() {
        return lastRun;
    }

    public int rounds() {
        return rounds;
    }
}
