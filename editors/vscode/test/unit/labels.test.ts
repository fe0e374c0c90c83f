// Owns the checks of the words for findings. Does not know VS Code.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
    cycle,
    deed,
    messageBelow,
    place,
    places,
    severity,
    shortMethod,
    shortOrigin,
    subject,
} from "../../src/labels";
import { at, deadlock, race, site } from "./sample";

test("places name a file once", () => {
    const lines = (...sites: [string, number][]) =>
        places(race("x", { sites: sites.map(([file, line]) => site("write", file, line)) }));
    assert.equal(lines(["Amy.java", 11], ["Amy.java", 21]), "Amy.java:11 and 21");
    assert.equal(lines(["Amy.java", 11], ["Amy.java", 11]), "Amy.java:11");
    assert.equal(lines(["Bank.java", 30], ["Main.java", 20]), "Bank.java:30, Main.java:20");
    assert.equal(lines(["Amy.java", 1], ["Amy.java", 2], ["Amy.java", 3]), "Amy.java:1, 2 and 3");
    assert.equal(lines(), "");
});

test("a place is readable, whatever is in the name of the file", () => {
    assert.equal(place(at("a%20b/C%C3%A4sar.java", 3)), "Cäsar.java:3");
    assert.equal(place(at("100%.java", 3)), "100%.java:3");
});

test("a message below its subject does not repeat it", () => {
    assert.equal(messageBelow(race("Amy.x")), "is written by two threads");
    const { message } = deadlock(["a", "b"]);
    assert.equal(messageBelow({ ...deadlock(["a", "b"]), message: `${message}: a -> b` }), message);
    assert.equal(messageBelow(race("Amy.x", { message: "something else" })), "something else");
});

test("locks that have one name are no subject", () => {
    const finding = deadlock(["this", "this"]);
    assert.equal(subject(deadlock(["a", "b"])), "a → b → a");
    assert.equal(subject(finding), finding.message);
    assert.equal(messageBelow(finding), "deadlock (high confidence)");
});

test("files where threads are started are known by their names", () => {
    const short = (origin: string) => shortOrigin(site("write", "A.java", 1, { origin }));
    assert.equal(short("thread started at src/bank/Main.java:20"), "thread started at Main.java:20");
    assert.equal(short("thread started at Main.java:20"), "thread started at Main.java:20");
    assert.equal(short("main thread"), "main thread");
});

test("a cycle ends where it begins", () => {
    assert.equal(cycle(["a", "b", "c"]), "a → b → c → a");
    assert.equal(cycle([]), "");
});

test("methods lose their packages", () => {
    assert.equal(shortMethod("bank.Main.pay(bank.Bank, java.lang.String[])"), "Main.pay(Bank, String[])");
    assert.equal(shortMethod("Amy.main(java.lang.String[]) lambda"), "Amy.main(String[]) lambda");
    assert.equal(shortMethod("bank.Main.stop()"), "Main.stop()");
    assert.equal(shortMethod("bank.Main.<init>"), "Main.<init>");
});

test("a side says what it does", () => {
    assert.equal(deed(site("write", "A.java", 1)), "Write");
    assert.equal(deed(site("acquire", "A.java", 1, { acquires: { name: "l2" } })), "Wants l2");
    assert.equal(deed(site("acquire", "A.java", 1, { acquires: { name: "this" } })), "Wants `this`");
    assert.equal(deed(site("wait", "A.java", 1)), "Waits");
    assert.equal(deed(site("block", "A.java", 1)), "May take long");
});

test("severity is the diagnostics' own", () => {
    const of = (rule: string, confidence: string) => severity(race("x", { rule, confidence }));
    assert.equal(of("race", "high"), "error");
    assert.equal(of("deadlock", "medium"), "warning");
    assert.equal(of("race", "low"), "info");
    assert.equal(of("guarded-by", "high"), "warning");
    assert.equal(of("unsafe-interface-call", "high"), "info");
});
