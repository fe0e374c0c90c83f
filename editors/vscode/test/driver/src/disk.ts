// Owns what lies in a project on the disk, apart from what Snarl may write there. Does not know why one asks.

import * as fs from "node:fs";
import * as path from "node:path";

/** Each file with its content. */
export function contents(folder: string): Map<string, string> {
    const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
    return new Map(
        names
            .filter((name) => name.split(path.sep)[0] !== ".snarl" && fs.statSync(path.join(folder, name)).isFile())
            .map((name) => [name, fs.readFileSync(path.join(folder, name), "utf8")]),
    );
}
