package bank;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Two customers pay each other from two threads while a third thread watches. */
public final class Main {
    public static void main(String[] args) throws InterruptedException {
        Bank bank = new Bank();
        Account alice = bank.open("alice", 1_000);
        Account bob = bank.open("bob", 1_000);

        Watcher watcher = new Watcher(bank);
        Thread watching = new Thread(watcher, "watcher");
        watching.start();

        Thread first = new Thread(() -> pay(bank, alice, bob), "alice pays bob");
        Thread second = new Thread(() -> pay(bank, bob, alice), "bob pays alice");
        first.start();
        second.start();
        first.join();
        second.join();

        watcher.stop();
        watching.join();

        // Safe: both threads are joined, so nobody writes the counter any more.
        System.out.println(bank.transfers() + " transfers");
        yearEnd(bank);
    }

    private static void pay(Bank bank, Account from, Account to) {
        for (int i = 0; i < 100; i++) {
            bank.transfer(from, to, 1);
        }
    }

    private static void yearEnd(Bank bank) throws InterruptedException {
        YearEnd task = new YearEnd(bank);
        ExecutorService pool = Executors.newSingleThreadExecutor();
        pool.submit(task);
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.MINUTES);
        // Safe: written by the task, read after the pool has ended.
        System.out.println(task.statement);
    }
}
