// Everything it has is set before the first request.
package shop;

import java.util.List;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/catalog")
public class CatalogController implements InitializingBean {
    private final ProductCache cache;
    private final Basket basket;
    private OrderStatistics statistics;
    @Autowired
    private Shipping shipping;
    @Autowired
    private ExchangeRates rates;
    @Autowired
    private Newsletter letters;
    @Autowired
    private StockService stock;
    @Autowired
    private ShopSettings settings;
    private String title;

    public CatalogController(ProductCache cache, Basket basket) {
        this.cache = cache;
        this.basket = basket;
    }

    @Autowired
    public void setStatistics(OrderStatistics statistics) {
        this.statistics = statistics; //~ no unprotected-write: statistics
    }

    @Override
    public void afterPropertiesSet() {
        title = "catalog in " + settings.getCurrency(); //~ no unprotected-write: title
    }

    @GetMapping("/{name}")
    public String show(@PathVariable String name, @RequestParam(defaultValue = "1") int amount) {
        for (int i = 0; i < amount; i++) {
            basket.add(name);
        }
        return title + ": " + cache.show(name) + ", " + basket.size();
    }

    @GetMapping("/report")
    public List<String> report() {
        return List.of(
            cache.imprint(), statistics.text(), statistics.highest().toString(), shipping.current(),
            shipping.packages() + " of " + shipping.sent() + " and " + shipping.late(),
            rates.pound() + " " + rates.recent() + " " + rates.history(), letters.text());
    }

    @DeleteMapping("/reserved")
    public int forget() {
        stock.forget();
        return stock.open();
    }
}
