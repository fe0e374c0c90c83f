package bank;

/** Adds up all accounts, as a task for a pool. */
final class YearEnd implements Runnable {
    private final Bank bank;

    // Safe: the task writes it, and it is read only after the pool has ended.
    String statement;

    YearEnd(Bank bank) {
        this.bank = bank;
    }

    @Override
    public void run() {
        long sum = 0;
        for (Account account : bank.accounts()) {
            sum += account.balance();
        }
        statement = "year end: " + sum;
    }
}
