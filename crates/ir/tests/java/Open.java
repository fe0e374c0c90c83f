package shop;

public class Open {
    String local() { return "open"; }
    String call() { return local(); }
}
