// Owns the wiring: which parts there are and who gets to know whom. Does nothing itself.

import { window, type ExtensionContext } from "vscode";
import type { SnarlApi } from "./api";
import { menuCommand, registerCommands } from "./commands/register";
import { registerOpen } from "./open";
import { Server } from "./server";
import { Session } from "./session";
import { StatusBar } from "./statusBar";
import { FindingsView } from "./tree/view";

let server: Server | undefined;

export function activate(context: ExtensionContext): SnarlApi {
    const output = window.createOutputChannel("Snarl", { log: true });
    const session = new Session();
    const started = new Server(context, session, output);
    const view = new FindingsView(session);
    const statusBar = new StatusBar(session, menuCommand);
    context.subscriptions.push(output, session, started, view, statusBar);
    context.subscriptions.push(registerOpen(), registerCommands(started, session, output));
    server = started;
    // Not awaited: the window does not wait for the first analysis.
    void started.start();
    return {
        status: () => session.status,
        statusBar: () => statusBar.text,
        findings: () => session.findings,
        tree: () => view.nodes,
        delta: () => started.delta(),
        onDidChange: session.onDidChange,
    };
}

export async function deactivate(): Promise<void> {
    await server?.stop();
}
