/** A lambda goes to code that is not analysed, and so is a default method of its interface. */
class OpaqueDefaults {
    interface Hook {
        Object hook(Object value);

        default Object twice(Object value) {
            return hook(hook(value));
        }

        static Object give(Hook hook) {
            return hook.twice(hook);
        }
    }

    static Object seen;

    public static void main(String[] args) {
        Hook.give(value -> seen = value);
    }
}
