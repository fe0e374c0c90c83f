package shop;

import java.math.BigDecimal;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class OrderService {
    private final ProductRepository products;
    private final PriceService prices;
    private final StockService stock;
    private final ReceiptNumbers numbers;
    private final Newsletter letters;
    private final ApplicationEventPublisher events;

    public OrderService(
            ProductRepository products, PriceService prices, StockService stock, ReceiptNumbers numbers,
            Newsletter letters, ApplicationEventPublisher events) {
        this.products = products;
        this.prices = prices;
        this.stock = stock;
        this.numbers = numbers;
        this.letters = letters;
        this.events = events;
    }

    public int receiptNumber() {
        return numbers.next();
    }

    @Transactional
    public BigDecimal place(String name, int amount) {
        Product product = products.findByName(name).orElseThrow(() -> new IllegalStateException("unknown: " + name));
        stock.reserve(amount);
        product.sell(amount);
        products.save(product);
        BigDecimal total = prices.price(product).multiply(BigDecimal.valueOf(amount));
        events.publishEvent(new OrderPlaced(name, amount, total));
        stock.release(amount);
        if (product.getStock() < 10) {
            stock.recount();
            letters.send(name + " is nearly sold out");
        }
        return total;
    }
}
