// Made for each request.
package shop;

import java.util.ArrayList;
import java.util.List;
import org.springframework.stereotype.Component;
import org.springframework.web.context.annotation.RequestScope;

@Component
@RequestScope
public class Basket {
    private final List<String> products = new ArrayList<>();
    private int size;

    public void add(String product) {
        products.add(product); //~ no container-race: products
        size++; //~ no unprotected-write: size
    }

    public List<String> products() {
        return products;
    }

    public int size() {
        return size;
    }
}
