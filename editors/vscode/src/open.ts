// Owns the way to a place in the code. Does not know why one wants to go there.

import { commands, Range, Uri, window, type Disposable } from "vscode";
import type { Location } from "./protocol";

/** For tree items; not in the palette. */
export const openCommand = "snarl.open";

export function registerOpen(): Disposable {
    return commands.registerCommand(openCommand, open);
}

export async function open(location: Location): Promise<void> {
    await window.showTextDocument(uriOf(location), { selection: rangeOf(location) });
}

export function uriOf(location: Location): Uri {
    return Uri.parse(location.uri);
}

export function rangeOf({ range: { start, end } }: Location): Range {
    return new Range(start.line, start.character, end.line, end.character);
}
