import java.util.function.Function;

/** A constructor calls itself through library code that is analysed per object. */
class ConstructorsInContainers {
    final Object next;

    ConstructorsInContainers(Object value) {
        Function<Object, Object> same = given -> given;
        next = same.andThen(ConstructorsInContainers::new).apply(value);
    }

    public static void main(String[] args) {
        new ConstructorsInContainers(args);
    }
}
