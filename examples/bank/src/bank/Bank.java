package bank;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The accounts, and what is counted about them. */
final class Bank {
    // Safe: the map is made for several threads.
    private final Map<String, Account> accounts = new ConcurrentHashMap<>();

    // Safe: an atomic counter.
    private final AtomicLong moved = new AtomicLong();

    private final AuditLog log = new AuditLog();

    // Race: counted by several threads without a lock, so transfers get lost.
    private int transfers;

    Account open(String owner, long balance) {
        Account account = new Account(owner, balance);
        accounts.put(owner, account);
        return account;
    }

    void transfer(Account from, Account to, long amount) {
        from.transferTo(to, amount);
        moved.addAndGet(amount);
        transfers++;
        log.record(from, to, amount);
    }

    int transfers() {
        return transfers;
    }

    long moved() {
        return moved.get();
    }

    int entries() {
        return log.size();
    }

    Collection<Account> accounts() {
        return accounts.values();
    }
}
