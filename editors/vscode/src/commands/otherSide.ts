// Owns the way from one side of a finding to the other. Does not know what a side is; the server does.

import { commands, Location, window } from "vscode";
import { rangeOf, uriOf } from "../open";
import type { Server } from "../server";

export async function goToOtherSide(server: Server): Promise<void> {
    const editor = window.activeTextEditor;
    if (!editor) {
        return;
    }
    const { document, selection } = editor;
    const { line, character } = selection.active;
    const found = await server.otherSide(document.uri, line, character);
    const locations = found.map((location) => new Location(uriOf(location), rangeOf(location)));
    await commands.executeCommand(
        "editor.action.goToLocations",
        document.uri,
        selection.active,
        locations,
        "peek",
        "There is no finding here.",
    );
}
