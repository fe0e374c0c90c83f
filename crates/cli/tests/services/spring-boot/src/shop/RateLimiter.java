// No annotation says so, but it is a bean: a method of the application with @Bean makes the only one.
package shop;

import org.springframework.scheduling.annotation.Scheduled;

public class RateLimiter {
    private final int most;
    private int left;
    private int refused;

    RateLimiter(int most) {
        this.most = most;
        left = most;
    }

    public synchronized boolean enter() {
        if (left == 0) {
            return false;
        }
        left--; //~ no race: left
        return true;
    }

    @Scheduled(fixedRate = 1000)
    public synchronized void refill() {
        left = most;
    }

    public void refuse() {
        refused++; //~ unprotected-write: refused
    }

    public int refused() {
        return refused;
    }
}
