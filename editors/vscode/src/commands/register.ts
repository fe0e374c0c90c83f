// Owns the names of the commands and what happens when one fails. Does not do any of their work.

import { commands, Disposable, window, type LogOutputChannel } from "vscode";
import type { Server } from "../server";
import type { Session } from "../session";
import { headline } from "../status";
import { listFindings, showDelta } from "./findings";
import { showMenu } from "./menu";
import { goToOtherSide } from "./otherSide";

export const menuCommand = "snarl.menu";

export function registerCommands(server: Server, session: Session, output: LogOutputChannel): Disposable {
    const all: Record<string, () => Promise<void>> = {
        "snarl.listFindings": () => listFindings(session.findings),
        "snarl.showDelta": async () => showDelta(await server.delta()),
        "snarl.goToOtherSide": () => goToOtherSide(server),
        "snarl.reanalyse": () => server.analyse(),
        "snarl.restart": () => server.restart(),
        "snarl.showOutput": async () => output.show(),
        [menuCommand]: () => showMenu(`Snarl ${headline(session.status)}`),
    };
    return Disposable.from(
        ...Object.entries(all).map(([name, run]) => commands.registerCommand(name, () => reported(run, output))),
    );
}

async function reported(run: () => Promise<void>, output: LogOutputChannel): Promise<void> {
    try {
        await run();
    } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        output.error(message);
        void window.showErrorMessage(message);
    }
}
