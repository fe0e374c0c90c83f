package far;

public class Foreign extends shop.Open {
    // Another package: this does not override shop.Open.local().
    String local() { return "foreign"; }
}
