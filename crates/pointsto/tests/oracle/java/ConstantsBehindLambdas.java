import java.util.function.BiFunction;

/** The statement passes a constant, but to a lambda, which passes its own on. */
class ConstantsBehindLambdas {
    static class Wrong {
        static final Object MADE = new Object();
    }

    static Object find(Object loader, Object name) {
        return null;
    }

    public static void main(String[] args) {
        BiFunction<Object, Object, Object> find = ConstantsBehindLambdas::find;
        find.apply("ConstantsBehindLambdas$Wrong", args[0]);
    }
}
