// Made by Jackson for one request.
package shop;

public class OrderRequest {
    private String product;
    private int amount;

    public String getProduct() {
        return product;
    }

    public void setProduct(String product) {
        this.product = product; //~ no unprotected-write: product
    }

    public int getAmount() {
        return amount;
    }

    public void setAmount(int amount) {
        this.amount = amount; //~ no unprotected-write: amount
    }
}
