// Owns findings for tests, as the server tells them. Does not know what is tested.

import type { Finding, Location, Site } from "../../src/protocol";

export function at(file: string, line: number): Location {
    const position = { line: line - 1, character: 8 };
    return { uri: `file:///project/${file}`, range: { start: position, end: position } };
}

export function site(access: string, file: string, line: number, more: Partial<Site> = {}): Site {
    return {
        access,
        method: "Amy.main(java.lang.String[]) lambda",
        origin: `thread started at ${file}:${line + 10}`,
        location: at(file, line),
        started: at(file, line + 10),
        locks: [],
        trace: [{ method: "Amy.main(java.lang.String[]) lambda", location: at(file, line) }],
        ...more,
    };
}

export function race(field: string, more: Partial<Finding> = {}): Finding {
    return {
        id: `race-${field}`,
        rule: "race",
        ruleName: "two accesses that nothing orders",
        confidence: "high",
        message: `${field} is written by two threads`,
        field,
        locks: [],
        engines: ["whole-program"],
        sites: [
            site("write", "Amy.java", 11, { locks: [{ name: "Amy.l1", location: at("Amy.java", 10) }] }),
            site("read", "Amy.java", 21),
        ],
        why: ["no common lock"],
        fix: ["guard every access with one lock"],
        ...more,
    };
}

export function deadlock(locks: string[]): Finding {
    const { field: _, ...rest } = race("");
    return {
        ...rest,
        id: `deadlock-${locks.join("-")}`,
        rule: "deadlock",
        ruleName: "locks that are taken in a circle",
        message: "two threads take two locks in opposite order",
        locks,
        sites: locks.map((name, index) => {
            const wanted = locks[(index + 1) % locks.length] as string;
            return site("acquire", "Amy.java", 12 + index, { holds: { name }, acquires: { name: wanted } });
        }),
    };
}
