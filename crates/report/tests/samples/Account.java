package bank;

/** Deposits are guarded, the balance is read without the guard, transfers lock both accounts. */
public class Account {
    private int balance;

    public synchronized void deposit(int amount) {
        balance += amount;
    }

    public int balance() {
        return balance;
    }

    public void transfer(Account to, int amount) {
        synchronized (this) {
            synchronized (to) {
                balance -= amount;
                to.balance += amount;
            }
        }
    }
}
