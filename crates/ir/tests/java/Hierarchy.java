package shop;

interface Priced {
    int TAX = 7;
    int price();
    default String label() { return "priced"; }
    static int none() { return 0; }
}

interface Discounted extends Priced {
    default String label() { return "discounted"; }
}

interface Loud {
    default String label() { return "loud"; }
}

abstract class Item implements Priced {
    protected int amount;
    private String secret() { return "item"; }
    String reveal() { return secret(); }
    String local() { return "item"; }
}

class Book extends Item implements Discounted {
    public int price() { return amount + TAX; }
    String secret() { return "book"; }
    String local() { return "book"; }
}

class Shout extends Book implements Loud {
    public String label() { return Loud.super.label(); }
}

interface Visitor<T> {
    void visit(T item);
    boolean equals(Object other);
    default void visitAll() {}
}

interface BookVisitor extends Visitor<Book> {
    void visit(Book item);
}

interface Two {
    void first();
    void second();
}

class Handles {
    static Object call(java.lang.invoke.MethodHandle handle, int n) throws Throwable {
        return handle.invokeExact(n, "text");
    }
}
