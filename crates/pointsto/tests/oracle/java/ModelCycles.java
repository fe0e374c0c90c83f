/** Models of two methods call the other one, on objects that hold each other. */
class ModelCycles {
    static class Ping {
        Object send(Object value) {
            return null;
        }

        Object back(Object value) {
            return null;
        }

        void set(Object other) { }
    }

    static Object result;

    public static void main(String[] args) {
        Ping ping = new Ping();
        Ping pong = new Ping();
        ping.set(pong);
        pong.set(ping);
        result = ping.send(args);
    }
}
