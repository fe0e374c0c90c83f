// Owns the checks of what the tree of findings looks like. Does not know VS Code.

import assert from "node:assert/strict";
import { test } from "node:test";
import { buildTree, type Node } from "../../src/tree/build";
import { at, deadlock, race, site } from "./sample";

test("races are grouped by field, deadlocks by cycle, other rules by rule", () => {
    const blocking = {
        rule: "blocking-under-lock",
        ruleName: "something that may take long",
        message: "sleeps under a lock",
    };
    const tree = buildTree([
        race("Amy.x", { id: "1" }),
        deadlock(["Amy.l1", "Amy.l2"]),
        race("Amy.y", { id: "2" }),
        race("Amy.x", { id: "3" }),
        race("", { ...blocking, id: "4" }),
        race("", { ...blocking, id: "5" }),
    ]);
    assert.deepEqual(
        tree.map(({ label, description, children }) => [label, description, children.length]),
        [
            ["Amy.x", "2 races", 2],
            ["Amy.l1 → Amy.l2 → Amy.l1", "1 deadlock", 1],
            ["Amy.y", "1 race", 1],
            ["blocking under lock", "2 findings", 2],
        ],
    );
});

test("a finding shows both sides with thread, locks, reasons and repairs", () => {
    assert.equal(
        drawn(buildTree([race("Amy.x")])),
        `
Amy.x | 1 race
  is written by two threads | Amy.java:11 and 21
    Write | Amy.java:11 in Amy.main(String[]) lambda
      thread started at Amy.java:21
      holds Amy.l1 | Amy.java:10
    Read | Amy.java:21 in Amy.main(String[]) lambda
      thread started at Amy.java:31
      holds no lock
    Why
      no common lock
    How to fix
      guard every access with one lock
`.trim(),
    );
});

test("a side of a deadlock shows what it wants and what it holds", () => {
    const [, finding] = flat(buildTree([deadlock(["Amy.l1", "Amy.l2"])]));
    const [first, second] = finding?.children ?? [];
    assert.deepEqual([first?.label, second?.label], ["Wants Amy.l2", "Wants Amy.l1"]);
    assert.deepEqual(first?.children[1]?.label, "holds Amy.l1");
});

test("calls are shown from the thread's begin down to the side", () => {
    const trace = [
        { method: "bank.Main.pay(bank.Bank)", location: at("Main.java", 35) },
        { method: "bank.Bank.transfer(long)", location: at("Bank.java", 30) },
    ];
    const tree = buildTree([race("bank.Bank.transfers", { sites: [site("write", "Bank.java", 30, { trace })] })]);
    const calls = flat(tree).find((node) => node.label === "calls");
    assert.deepEqual(
        calls?.children.map(({ label, description }) => [label, description]),
        [
            ["Main.pay(Bank)", "Main.java:35"],
            ["Bank.transfer(long)", "Bank.java:30"],
        ],
    );
});

test("a click leads to the first place of a finding, to the side, to the lock and to the start of the thread", () => {
    const tree = flat(buildTree([race("Amy.x")]));
    const line = (label: string) => {
        const start = tree.find((node) => node.label.startsWith(label))?.location?.range.start;
        return start && start.line + 1;
    };
    assert.deepEqual(
        ["is written", "Write", "Read", "holds Amy.l1", "thread started at Amy.java:31"].map(line),
        [11, 11, 21, 10, 31],
    );
});

test("every node has an id of its own, also if two folders hold the same program", () => {
    const ids = flat(buildTree([race("Amy.x"), race("Amy.x"), deadlock(["a", "b"]), race("Amy.y")])).map(
        ({ id }) => id,
    );
    assert.equal(new Set(ids).size, ids.length);
});

test("the ids do not change with the lines", () => {
    const moved = race("Amy.x", { sites: [site("write", "Amy.java", 111), site("read", "Amy.java", 121)] });
    const findingId = (finding: typeof moved) => flat(buildTree([finding]))[1]?.id;
    assert.equal(findingId(race("Amy.x")), findingId(moved));
});

test("many findings begin closed", () => {
    const findings = (number: number) => Array.from({ length: number }, (_, index) => race(`Amy.f${index}`));
    const opened = (number: number) =>
        buildTree(findings(number)).flatMap((group) => group.children.map(({ open }) => open));
    assert.deepEqual(opened(3), [true, true, true]);
    assert.deepEqual(opened(4), [false, false, false, false]);
});

test("what the server leaves out is left out", () => {
    const { location: _, started: __, ...bare } = site("call", "Amy.java", 1);
    const tree = buildTree([race("Amy.x", { sites: [{ ...bare, trace: [] }], why: [], fix: [] })]);
    assert.equal(
        drawn(tree[0]?.children ?? []),
        `
is written by two threads
  Call | Amy.main(String[]) lambda
    thread started at Amy.java:11
    holds no lock
`.trim(),
    );
});

function flat(nodes: Node[]): Node[] {
    return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

function drawn(nodes: Node[], indent = ""): string {
    return nodes
        .map(({ label, description, children }) => {
            const line = indent + (description ? `${label} | ${description}` : label);
            return children.length > 0 ? `${line}\n${drawn(children, `${indent}  `)}` : line;
        })
        .join("\n");
}
