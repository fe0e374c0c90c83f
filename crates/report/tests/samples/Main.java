package bank;

public class Main {
    public static void main(String[] args) {
        Account alice = new Account();
        Account bob = new Account();
        Thread payday = new Thread(() -> alice.deposit(100));
        Thread rent = new Thread(() -> alice.transfer(bob, 60));
        Thread refund = new Thread(() -> bob.transfer(alice, 10));
        payday.start();
        rent.start();
        refund.start();
        System.out.println(alice.balance());
    }
}
