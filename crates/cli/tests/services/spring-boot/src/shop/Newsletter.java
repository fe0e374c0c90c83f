// Letters are written by the pool of the application.
package shop;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.stereotype.Service;

@Service
public class Newsletter {
    private final ThreadPoolTaskExecutor executor;
    private final AtomicInteger asked = new AtomicInteger();
    private int written;

    public Newsletter(ThreadPoolTaskExecutor executor) {
        this.executor = executor;
    }

    public void send(String product) {
        asked.incrementAndGet(); //~ no race: asked
        executor.execute(() -> {
            String letter = "new: " + product;
            written += letter.length(); //~ race: written with line 27 //~ missed race: written with line 22: tasks that two calls start are not seen to meet
        });
    }

    public String text() {
        return asked + " letters, " + written + " characters";
    }
}
