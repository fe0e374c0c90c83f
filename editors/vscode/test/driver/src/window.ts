// Owns what the window shows, as seen through the API of VS Code and of the extension under test. Does not know which
// scenario looks.

import assert from "node:assert/strict";
import * as path from "node:path";
import { commands, extensions, languages, Uri, window, workspace, type Diagnostic, type TextEditor } from "vscode";
import type { SnarlApi } from "../../../src/api";
import type { Node } from "../../../src/tree/build";
import { until } from "./wait";

/** What has not come with the window does not come later. */
const folderLimit = 3_000;

export async function snarl(): Promise<SnarlApi> {
    const extension = extensions.getExtension<SnarlApi>("snarl.snarl");
    if (!extension) {
        throw new Error("the extension is not installed");
    }
    return until("the extension is active", () => (extension.isActive ? extension.exports : undefined));
}

export function hasFolders(wanted: string[]): Promise<unknown> {
    return until(
        `the window has the folders ${wanted.join(", ")}`,
        () => {
            const open = (workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
            if (open.join() !== wanted.join()) {
                throw new Error(`it has ${open.join(", ") || "none"}`);
            }
            return true;
        },
        folderLimit,
    );
}

export async function openFile(folder: string, file: string): Promise<TextEditor> {
    return window.showTextDocument(await workspace.openTextDocument(Uri.file(path.join(folder, file))));
}

export function ready(api: SnarlApi): Promise<unknown> {
    return until("the server is ready", () => {
        const status = api.status();
        if (status.state !== "ready") {
            throw new Error(JSON.stringify(status));
        }
        return status;
    });
}

export function finds(api: SnarlApi, rules: string[]): Promise<unknown> {
    return until(`the findings are: ${rules.join(", ")}`, () => {
        assert.deepEqual(
            api.findings().map(({ rule }) => rule),
            rules,
        );
        return true;
    });
}

/** `race 11`, `race 21`: rule and line of each diagnostic of Snarl's in the file. */
export function diagnostics(uri: Uri): string[] {
    return languages
        .getDiagnostics(uri)
        .filter(({ source }) => source === "snarl")
        .map((diagnostic) => `${codeOf(diagnostic)} ${diagnostic.range.start.line + 1}`)
        .sort();
}

export function flat(nodes: Node[]): Node[] {
    return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

export async function showTree(): Promise<void> {
    await commands.executeCommand("snarl.tree.focus");
}

export async function hideSideBar(): Promise<void> {
    await commands.executeCommand("workbench.action.closeSidebar");
}

function codeOf({ code }: Diagnostic): string {
    return String(typeof code === "object" ? code.value : code);
}
