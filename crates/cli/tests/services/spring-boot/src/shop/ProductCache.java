// Holds the products asked for last. Even reading changes the order, so that all is done with the lock.
package shop;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@Component
public class ProductCache {
    private static final int MOST = 100;

    private final ProductRepository products;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, String> shown = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, String> eldest) {
            return size() > MOST;
        }
    };
    private int hits;
    private volatile String imprint;

    public ProductCache(ProductRepository products) {
        this.products = products;
    }

    public String show(String name) {
        lock.lock();
        try {
            String known = shown.get(name); //~ no container-race: shown
            if (known != null) {
                hits++; //~ no unprotected-write: hits
                return known;
            }
        } finally {
            lock.unlock();
        }
        String text = products.findByName(name).map(found -> found.getName() + " " + found.getPrice()).orElse("none");
        lock.lock();
        try {
            shown.putIfAbsent(name, text); //~ no container-race: shown
            return shown.get(name);
        } finally {
            lock.unlock();
        }
    }

    public String imprint() {
        String text = imprint;
        if (text == null) {
            synchronized (this) {
                text = imprint;
                if (text == null) {
                    text = "shop, " + products.count() + " products";
                    imprint = text; //~ no race: imprint
                }
            }
        }
        return text;
    }

    @Scheduled(fixedDelay = 3600000)
    public void clear() {
        lock.lock();
        try {
            shown.clear(); //~ no container-race: shown
            hits = 0; //~ no race: hits
        } finally {
            lock.unlock();
        }
    }
}
