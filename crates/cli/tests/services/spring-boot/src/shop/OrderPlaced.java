package shop;

import java.math.BigDecimal;

public final class OrderPlaced {
    private final String product;
    private final int amount;
    private final BigDecimal total;

    OrderPlaced(String product, int amount, BigDecimal total) {
        this.product = product;
        this.amount = amount;
        this.total = total;
    }

    public String getProduct() {
        return product;
    }

    public int getAmount() {
        return amount;
    }

    public BigDecimal getTotal() {
        return total;
    }
}
