// A thread of its own ships what was ordered, from the start of the application to its end.
package shop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import javax.annotation.PostConstruct;
import javax.annotation.PreDestroy;
import org.springframework.context.event.EventListener;
import org.springframework.stereotype.Service;

@Service
public class Shipping {
    private final BlockingQueue<OrderPlaced> waiting = new LinkedBlockingQueue<>();
    private final List<String> sent = new ArrayList<>();
    private final List<String> late = new ArrayList<>();
    private volatile boolean running = true;
    private volatile String current = "";
    private int packages;
    private Thread worker;

    @PostConstruct
    void start() {
        worker = new Thread(this::work, "shipping"); //~ no unprotected-write: worker
        worker.start();
    }

    @PreDestroy
    void stop() throws InterruptedException {
        running = false; //~ no race: running
        worker.interrupt();
        worker.join();
        worker = null; //~ no unprotected-write: worker
    }

    @EventListener
    public void ordered(OrderPlaced order) {
        waiting.add(order);
    }

    private void work() {
        try {
            while (running) {
                OrderPlaced next = waiting.take();
                current = next.getProduct(); //~ no race: current
                packages++; //~ race: packages with line 63
                sent.add(next.getProduct()); //~ missed container-race: sent with line 67: a task before which a list is filled is not believed
                synchronized (late) {
                    late.add(next.getProduct()); //~ no container-race: late
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public String current() {
        return current;
    }

    public int packages() {
        return packages;
    }

    public List<String> sent() {
        return new ArrayList<>(sent);
    }

    public List<String> late() {
        synchronized (late) {
            return new ArrayList<>(late);
        }
    }
}
