import java.util.function.BiFunction;

/** A private method of a class is called on objects of another class; that call would fail. */
class ForeignReceivers {
    static class Owner {
        static BiFunction<Owner, Object, Object> method() {
            return Owner::step;
        }

        private Object step(Object value) {
            return value;
        }
    }

    @SuppressWarnings({"rawtypes", "unchecked"})
    public static void main(String[] args) {
        BiFunction method = Owner.method();
        method.apply(new ForeignReceivers(), args);
    }
}
