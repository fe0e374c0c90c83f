// Both numbers are guarded by the lock; one of the tasks that run beside the requests forgets it.
package shop;

import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

@Service
public class StockService {
    private final ProductRepository products;
    private final Object lock = new Object();
    private int reserved;
    private int counted;

    public StockService(ProductRepository products) {
        this.products = products;
    }

    public void reserve(int amount) {
        synchronized (lock) {
            if (reserved + amount > counted + 1000) {
                throw new IllegalStateException("too many orders");
            }
            reserved += amount;
        }
    }

    public void release(int amount) {
        synchronized (lock) {
            reserved -= amount;
        }
    }

    public int open() {
        synchronized (lock) {
            return counted - reserved;
        }
    }

    @Async
    public void recount() {
        int sum = 0;
        for (Product product : products.findAll()) {
            sum += product.getStock();
        }
        synchronized (lock) {
            counted = sum; //~ no guarded-by: counted
        }
    }

    @Async
    public void forget() {
        reserved = 0; //~ guarded-by: reserved by lock
    }
}
