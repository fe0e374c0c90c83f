package bank;

/** Prints how busy the bank is until it is told to stop. */
final class Watcher implements Runnable {
    private final Bank bank;

    // Safe: volatile, so the watching thread sees the change.
    private volatile boolean stopped;

    Watcher(Bank bank) {
        this.bank = bank;
    }

    void stop() {
        stopped = true;
    }

    @Override
    public void run() {
        while (!stopped) {
            System.out.println(bank.moved() + " moved, " + bank.entries() + " log entries");
            Thread.onSpinWait();
        }
    }
}
