// One controller serves all requests.
package shop;

import java.text.SimpleDateFormat;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/orders")
public class OrderController {
    private final OrderService orders;
    private final RateLimiter limiter;
    private final SimpleDateFormat day = new SimpleDateFormat("yyyy-MM-dd");
    private final DateTimeFormatter time = DateTimeFormatter.ofPattern("HH:mm");
    private final AtomicLong accepted = new AtomicLong();
    private int received;
    private String lastProduct;
    private volatile String lastError = "";

    public OrderController(OrderService orders, RateLimiter limiter) {
        this.orders = orders;
        this.limiter = limiter;
    }

    @PostMapping
    public ResponseEntity<Map<String, Object>> place(@RequestBody OrderRequest request) {
        received++; //~ unprotected-write: received
        if (!limiter.enter()) {
            limiter.refuse();
            return ResponseEntity.status(HttpStatus.TOO_MANY_REQUESTS).build();
        }
        lastProduct = request.getProduct(); //~ unprotected-write: lastProduct
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            answer.put("total", orders.place(request.getProduct(), request.getAmount())); //~ no container-race: LinkedHashMap
            accepted.incrementAndGet(); //~ no race: accepted
        } catch (IllegalStateException e) {
            lastError = e.getMessage(); //~ no unprotected-write: lastError
            return ResponseEntity.badRequest().build();
        }
        answer.put("receipt", orders.receiptNumber());
        answer.put("day", day.format(new Date())); //~ container-race: day with line 53
        answer.put("time", time.format(LocalTime.now())); //~ no container-race: time
        answer.put("stamp", new SimpleDateFormat("yyyyMMddHHmmss").format(new Date())); //~ no container-race: SimpleDateFormat
        return ResponseEntity.ok(answer);
    }

    @GetMapping("/state")
    public Map<String, Object> state() {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("received", received);
        answer.put("accepted", accepted.get());
        answer.put("refused", limiter.refused());
        answer.put("lastProduct", lastProduct);
        answer.put("lastError", lastError);
        return answer;
    }
}
