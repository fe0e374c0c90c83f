// Four maps: one is filled by whoever comes first, three do it right.
package shop;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.annotation.PostConstruct;
import org.springframework.stereotype.Service;

@Service
public class PriceService {
    private final ExchangeRates rates;
    private final Map<String, BigDecimal> prices = new HashMap<>();
    private final Map<String, BigDecimal> discounts = new ConcurrentHashMap<>();
    private final Map<String, BigDecimal> taxes = new HashMap<>();
    private final Map<String, BigDecimal> fees = new HashMap<>();

    public PriceService(ExchangeRates rates) {
        this.rates = rates;
    }

    @PostConstruct
    void prepare() {
        fees.put("EUR", BigDecimal.ONE); //~ no container-race: fees
        fees.put("USD", BigDecimal.TEN);
    }

    public BigDecimal price(Product product) {
        BigDecimal price = base(product).multiply(discount(product.getName())).multiply(tax("EUR"));
        return price.add(fees.get("EUR")).multiply(BigDecimal.valueOf(rates.dollar()));
    }

    private BigDecimal base(Product product) {
        if (!prices.containsKey(product.getName())) { //~ container-race: prices with line 36
            prices.put(product.getName(), product.getPrice());
        }
        return prices.get(product.getName());
    }

    private BigDecimal discount(String name) {
        return discounts.computeIfAbsent(name, key -> BigDecimal.valueOf(95, 2)); //~ no container-race: discounts
    }

    private BigDecimal tax(String country) {
        synchronized (taxes) {
            BigDecimal tax = taxes.get(country);
            if (tax == null) {
                tax = BigDecimal.valueOf(119, 2);
                taxes.put(country, tax); //~ no container-race: taxes
            }
            return tax;
        }
    }
}
