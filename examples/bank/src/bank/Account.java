package bank;

/** An account that looks after its own balance. */
final class Account {
    // Safe: final, written once before anyone else sees the object.
    private final String owner;

    // Safe: only touched with this account's monitor held.
    private long balance;

    Account(String owner, long balance) {
        this.owner = owner;
        this.balance = balance;
    }

    String owner() {
        return owner;
    }

    synchronized long balance() {
        return balance;
    }

    synchronized void deposit(long amount) {
        balance += amount;
    }

    // Deadlock: locks this account, then the other one. When alice pays bob while bob pays alice, each thread
    // holds the account that the other one wants.
    synchronized void transferTo(Account other, long amount) {
        balance -= amount;
        other.deposit(amount);
    }
}
