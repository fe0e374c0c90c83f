package bank;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/** Every transfer, in the order in which they were recorded. */
final class AuditLog {
    private final Lock lock = new ReentrantLock();

    // Safe: a plain list, only used with the lock held.
    private final List<String> lines = new ArrayList<>();

    void record(Account from, Account to, long amount) {
        // Safe: made and used by one thread only.
        StringBuilder line = new StringBuilder();
        line.append(from.owner()).append(" -> ").append(to.owner()).append(": ").append(amount);
        lock.lock();
        try {
            lines.add(line.toString());
        } finally {
            lock.unlock();
        }
    }

    int size() {
        lock.lock();
        try {
            return lines.size();
        } finally {
            lock.unlock();
        }
    }
}
