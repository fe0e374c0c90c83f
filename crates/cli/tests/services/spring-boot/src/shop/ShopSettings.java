// Set by the framework before anybody reads it.
package shop;

import org.springframework.boot.context.properties.ConfigurationProperties;

@ConfigurationProperties("shop")
public class ShopSettings {
    private int requestsPerSecond = 100;
    private String currency = "EUR";

    public int getRequestsPerSecond() {
        return requestsPerSecond;
    }

    public void setRequestsPerSecond(int requestsPerSecond) {
        this.requestsPerSecond = requestsPerSecond; //~ no unprotected-write: requestsPerSecond
    }

    public String getCurrency() {
        return currency;
    }

    public void setCurrency(String currency) {
        this.currency = currency; //~ no unprotected-write: currency
    }
}
