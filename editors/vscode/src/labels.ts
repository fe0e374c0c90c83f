// Owns the words and icons for findings and their parts. Does not know where they are shown.

import type { Finding, Location, Lock, Site } from "./protocol";

export function severity(finding: Finding): "error" | "warning" | "info" {
    if (finding.confidence === "low" || finding.rule === "unsafe-interface-call") {
        return "info";
    }
    const grave = ["race", "deadlock", "lock-misuse"].includes(finding.rule);
    return grave && finding.confidence === "high" ? "error" : "warning";
}

/** `blocking-under-lock` in words. */
export function ruleWords({ rule }: Finding): string {
    return rule.replaceAll("-", " ");
}

/** `Amy.java:11`. */
export function place(location: Location): string {
    return `${fileName(location)}:${line(location)}`;
}

/** `Amy.java:11 and 21`, `Bank.java:30`, `Bank.java:30, Main.java:20`. */
export function places(finding: Finding): string {
    const files = new Map<string, number[]>();
    for (const { location } of finding.sites) {
        if (location) {
            const lines = files.get(fileName(location)) ?? [];
            if (!lines.includes(line(location))) {
                lines.push(line(location));
            }
            files.set(fileName(location), lines);
        }
    }
    return [...files].map(([file, lines]) => `${file}:${listed(lines)}`).join(", ");
}

/** What a race or a deadlock is about: the field, or the locks if their names tell them apart. */
export function subject({ rule, field, locks, message }: Finding): string {
    if (rule === "deadlock") {
        return locks.length > 1 && new Set(locks).size === locks.length ? cycle(locks) : message;
    }
    return field ?? message;
}

/** The message below its subject, without repeating it: below `Amy.x`, `is written by two threads`. */
export function messageBelow(finding: Finding): string {
    const { message, field, locks } = finding;
    if (subject(finding) === message) {
        return `${ruleWords(finding)} (${finding.confidence} confidence)`;
    }
    const prefix = [`${field}: `, `${field} `].find((prefix) => field && message.startsWith(prefix)) ?? "";
    const cut = message.slice(prefix.length);
    const tail = `: ${locks.join(" -> ")}`;
    return locks.length > 0 && cut.endsWith(tail) ? cut.slice(0, -tail.length) : cut;
}

export function firstLocation(finding: Finding): Location | undefined {
    return finding.sites.find((site) => site.location)?.location;
}

/** `Amy.l1 → Amy.l2 → Amy.l1`. */
export function cycle(locks: string[]): string {
    return [...locks, ...locks.slice(0, 1)].join(" → ");
}

/** What a side does, as the beginning of a sentence: `Write`, `Wants Amy.l2`. */
export function deed(site: Site): string {
    switch (site.access) {
        case "acquire":
            return site.acquires ? `Wants ${lockName(site.acquires)}` : "Takes a lock";
        case "wait":
            return "Waits";
        case "block":
            return "May take long";
        default:
            return site.access.charAt(0).toUpperCase() + site.access.slice(1);
    }
}

/** In a sentence, `this` would be taken for one of its words. */
export function lockName({ name }: Lock): string {
    return name === "this" ? "`this`" : name;
}

export function deedIcon(site: Site): string {
    switch (site.access) {
        case "write":
            return "edit";
        case "read":
            return "eye";
        case "acquire":
            return "key";
        case "wait":
        case "block":
            return "watch";
        default:
            return "call-outgoing";
    }
}

/** `thread started at src/bank/Main.java:20` is long: the file is known by its name. */
export function shortOrigin({ origin }: Site): string {
    return origin.replace(/\S*\/(?=[^\s/]+:\d+)/g, "");
}

/** `bank.Main.pay(bank.Bank, java.lang.String[])` is long: `Main.pay(Bank, String[])`. */
export function shortMethod(method: string): string {
    const open = method.indexOf("(");
    if (open < 0) {
        return lastNames(method, 2);
    }
    const close = method.lastIndexOf(")");
    const parameters = method
        .slice(open + 1, close)
        .split(", ")
        .map((type) => lastNames(type, 1));
    return `${lastNames(method.slice(0, open), 2)}(${parameters.join(", ")})${method.slice(close + 1)}`;
}

/** `1`, `1 and 2`, `1, 2 and 3`. */
function listed(numbers: number[]): string {
    return numbers.join(", ").replace(/, (\d+)$/, " and $1");
}

function lastNames(dotted: string, count: number): string {
    return dotted.split(".").slice(-count).join(".");
}

function fileName(location: Location): string {
    const name = location.uri.slice(location.uri.lastIndexOf("/") + 1);
    try {
        return decodeURIComponent(name);
    } catch {
        return name;
    }
}

function line(location: Location): number {
    return location.range.start.line + 1;
}
