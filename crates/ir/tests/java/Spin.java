class Spin {
    boolean stop;
    void spin() {
        while (true) {
            if (stop) synchronized (this) { stop = false; }
        }
    }
}
