// Owns the list of processes that this window has started, as Linux tells it. Does not know what they do.

import * as fs from "node:fs";

/** The ids of child processes that have this file among their first words. */
export function children(file: string): number[] {
    return fs
        .readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .filter((id) => parent(id) === process.pid && words(id).slice(0, 2).includes(file))
        .map(Number);
}

function parent(id: string): number {
    // The name of the program stands in parentheses and may hold spaces; the parent is the second word after it.
    const stat = read(id, "stat");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

function words(id: string): string[] {
    return read(id, "cmdline").split("\0");
}

/** A process may end while one looks. */
function read(id: string, what: string): string {
    try {
        return fs.readFileSync(`/proc/${id}/${what}`, "utf8");
    } catch {
        return "";
    }
}
