// Made for everybody who asks for one; but the only service that does asks only once.
package shop;

import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.annotation.Scope;
import org.springframework.stereotype.Component;

@Component
@Scope(ConfigurableBeanFactory.SCOPE_PROTOTYPE)
public class ReceiptNumbers {
    private int last;

    public int next() {
        return ++last; //~ unprotected-write: last
    }
}
