import java.util.function.*;
class Lambdas {
    int n;
    void run(String text, Lambdas other) {
        Runnable plain = () -> {};
        Runnable capturing = () -> this.n = text.length();
        Supplier<Integer> bound = other::get;
        Function<Lambdas, Integer> unbound = Lambdas::get;
        Supplier<Lambdas> constructor = Lambdas::new;
        IntFunction<String[]> array = String[]::new;
        IntBinaryOperator statical = Math::max;
        Runnable serializable = (Runnable & java.io.Serializable) () -> {};
    }
    int get() { return n; }
}
