import org.apache.commons.pool.BasePoolableObjectFactory;
import org.apache.commons.pool.ObjectPool;
import org.apache.commons.pool.impl.GenericObjectPool;
import org.apache.commons.pool.impl.StackObjectPool;

/** Four threads borrow from and return to two kinds of pool. */
public final class PoolDriver {
    public static void main(String[] args) throws Exception {
        GenericObjectPool general = new GenericObjectPool(new Factory());
        general.setTimeBetweenEvictionRunsMillis(1);
        StackObjectPool stack = new StackObjectPool(new Factory());
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            ObjectPool pool = i % 2 == 0 ? general : stack;
            threads[i] = new Thread(() -> use(pool));
            threads[i].start();
        }
        general.setMaxActive(2);
        System.out.println(general.getNumIdle() + stack.getNumActive());
        for (Thread thread : threads) {
            thread.join();
        }
        general.close();
        stack.close();
    }

    private static void use(ObjectPool pool) {
        try {
            for (int i = 0; i < 100; i++) {
                Object borrowed = pool.borrowObject();
                pool.returnObject(borrowed);
            }
        } catch (Exception e) {
            e.printStackTrace();
        }
    }

    private static final class Factory extends BasePoolableObjectFactory {
        @Override
        public Object makeObject() {
            return new StringBuilder();
        }
    }
}
