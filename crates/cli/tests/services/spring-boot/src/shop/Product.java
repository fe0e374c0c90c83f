// An entity belongs to the transaction that loaded it.
package shop;

import java.math.BigDecimal;
import javax.persistence.Entity;
import javax.persistence.GeneratedValue;
import javax.persistence.Id;
import javax.persistence.Version;

@Entity
public class Product {
    @Id
    @GeneratedValue
    private Long id;
    @Version
    private int version;
    private String name;
    private BigDecimal price;
    private int stock;

    protected Product() {
    }

    public Product(String name, BigDecimal price, int stock) {
        this.name = name;
        this.price = price;
        this.stock = stock;
    }

    public Long getId() {
        return id;
    }

    public String getName() {
        return name;
    }

    public BigDecimal getPrice() {
        return price;
    }

    public void setPrice(BigDecimal price) {
        this.price = price; //~ no unprotected-write: price
    }

    public int getStock() {
        return stock;
    }

    public void sell(int amount) {
        if (stock < amount) {
            throw new IllegalStateException("sold out: " + name);
        }
        stock -= amount; //~ no unprotected-write: stock
    }
}
