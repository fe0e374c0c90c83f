//! Declarations as people write them, in each language.

use super::*;
use crate::lexed::lex;

fn told(text: &str, newlines: bool) -> Vec<String> {
    let mut told: Vec<Declared> = declared(&lex(text).tokens, newlines);
    told.sort_by_key(|one| (one.from, one.at));
    let line = |one: &Declared| {
        let (from, to) = (one.from, one.to);
        format!("{:?} {} {} {from}-{to}", one.kind, one.owner, one.name).to_lowercase()
    };
    told.iter().map(line).collect()
}

#[test]
fn java_is_understood() {
    let text = "package bank;
import java.util.*;
/** Doc. */
@Deprecated
public final class Account<T extends Comparable<T>> implements Runnable {
    private int balance, limit = 3;
    Map<String, List<Integer>> log = new HashMap<>();
    int[] slots = { 1, 2 };
    static final Runnable TASK = () -> {
        int local = 1;
    };
    @Nullable
    @Size(max = 3)
    volatile Object last;
    Runnable again = new Runnable() {
        int times;
        public void run() { times++; }
    };
    static { int here = 1; }
    Account(int balance) {
        this.balance = balance;
    }
    synchronized <S> void deposit(int amount) throws Exception {
        if (amount > 0) { balance += amount; }
        Class<?> c = Account.class;
        new Thread(() -> { limit++; }).start();
    }
    abstract int size();
    enum Kind { A, B; int n; }
    record Entry(int a, int b) { static int made; }
    interface Hook { void call(); }
}
";
    assert_eq!(
        told(text, false),
        [
            "class account account 4-32",
            "field account balance 6-6",
            "field account limit 6-6",
            "field account log 7-7",
            "field account slots 8-8",
            "field account task 9-11",
            "field account last 12-14",
            "field account again 15-18",
            "field account$ times 16-16",
            "method account$ run 17-17",
            "method account account 20-22",
            "method account deposit 23-27",
            "method account size 28-28",
            "class account$kind kind 29-29",
            "field account$kind b 29-29",
            "field account$kind n 29-29",
            "class account$entry entry 30-30",
            "field account$entry made 30-30",
            "class account$hook hook 31-31",
            "method account$hook call 31-31",
        ]
    );
}

#[test]
fn kotlin_and_scala_are_understood() {
    let kotlin = "package bank
import java.util.*

@Volatile
var open = 3
class Account(val id: Int) : Base() {
    private var balance: Int = 0
    lateinit var log: MutableList<Int>
    fun deposit(amount: Int) {
        balance += amount
        log.add(amount)
    }
    fun size() = 3
    companion object {
        var made = 0
    }
}
";
    assert_eq!(
        told(kotlin, true),
        [
            "field  open 4-5",
            "class account account 6-17",
            "field account balance 7-7",
            "field account log 8-8",
            "method account deposit 9-12",
            "method account size 13-13",
            "class account$companion companion 14-16",
            "field account$companion made 15-15",
        ]
    );
    let scala = "class Counter {\n  private var n: Int = 0\n  def inc(): Unit = {\n    n += 1\n  }\n}\n";
    assert_eq!(
        told(scala, true),
        ["class counter counter 1-6", "field counter n 2-2", "method counter inc 3-5"]
    );
}

#[test]
fn nonsense_is_survived() {
    for text in ["}}}{{{", "class", "class {", "((((", "@", "@A(", "int = ;", "new X() {", ", = , ;"] {
        declared(&lex(text).tokens, false);
        declared(&lex(text).tokens, true);
    }
}
