// A job fetches what requests read.
package shop;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

@Component
public class ExchangeRates {
    private double dollar = 1.0;
    private List<Double> history = List.of();
    private volatile double pound = 1.0;
    private volatile List<Double> recent = List.of();
    private int fetched;

    @Scheduled(fixedDelay = 60000)
    public void fetch() {
        fetched++; //~ no unprotected-write: fetched
        double now = 1 + ThreadLocalRandom.current().nextDouble() / fetched;
        dollar = now; //~ race: dollar with line 28
        pound = now; //~ no race: pound
        history = List.of(now, now); //~ race: history with line 36
        recent = List.of(now, now); //~ no race: recent
    }

    public double dollar() {
        return dollar;
    }

    public double pound() {
        return pound;
    }

    public List<Double> history() {
        return history;
    }

    public List<Double> recent() {
        return recent;
    }
}
