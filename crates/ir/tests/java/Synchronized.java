class Synchronized {
    final Object lock = new Object();
    int n;
    void increment() {
        synchronized (lock) {
            n++;
        }
    }
}
