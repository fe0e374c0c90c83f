import java.util.function.Consumer;

/** A call keeps no result; one of the methods it runs has a model that speaks of it. */
class UnkeptResults {
    static class Maker {
        Object make(Object value) {
            return null;
        }
    }

    static class Own extends Maker {
        Object make(Object value) {
            return this;
        }
    }

    static Maker maker = new Own();

    public static void main(String[] args) {
        Consumer<Object> keeper = maker::make;
        keeper.accept(args);
        maker = new Maker();
    }
}
