/** Private methods of the same name in a class and its subclass; lambdas are such methods, too. */
class PrivateMethods {
    static class Upper {
        Runnable task() {
            return () -> lambdaOfUpper();
        }

        void call() {
            step();
        }

        private void step() {
            callOfUpper();
        }

        void lambdaOfUpper() { }

        void callOfUpper() { }
    }

    static class Lower extends Upper {
        Runnable task() {
            return () -> lambdaOfLower();
        }

        Runnable upperTask() {
            return super.task();
        }

        private void step() {
            callOfLower();
        }

        void lambdaOfLower() { }

        void callOfLower() { }
    }

    public static void main(String[] args) {
        Lower lower = new Lower();
        lower.upperTask().run();
        lower.call();
    }
}
