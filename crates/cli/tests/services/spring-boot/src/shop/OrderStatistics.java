// Listens to what is published: on the thread of the request, unless @Async says otherwise.
package shop;

import java.math.BigDecimal;
import java.util.concurrent.atomic.LongAdder;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Component;

@Component
public class OrderStatistics {
    private final LongAdder items = new LongAdder();
    private final Totals totals = new Totals();
    private int placed;
    private BigDecimal highest = BigDecimal.ZERO;

    @EventListener
    public void count(OrderPlaced order) {
        placed++; //~ unprotected-write: placed
        items.add(order.getAmount()); //~ no race: items
    }

    @EventListener
    public synchronized void compare(OrderPlaced order) {
        if (order.getTotal().compareTo(highest) > 0) {
            highest = order.getTotal(); //~ no race: highest
        }
    }

    @Async
    @EventListener
    public void sum(OrderPlaced order) {
        totals.add(order.getTotal());
    }

    public synchronized BigDecimal highest() {
        return highest;
    }

    public String text() {
        return placed + " orders, " + items.sum() + " items, " + totals.all() + " in " + totals.orders();
    }

    /** Not a bean, but kept by one. */
    private static final class Totals {
        private BigDecimal all = BigDecimal.ZERO;
        private int orders;

        void add(BigDecimal total) {
            all = all.add(total); //~ unprotected-write: all
            synchronized (this) {
                orders++; //~ no race: orders
            }
        }

        BigDecimal all() {
            return all;
        }

        synchronized int orders() {
            return orders;
        }
    }
}
