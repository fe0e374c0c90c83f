// Owns the scenario of a program that is not there: the user is told, sets the path, and Snarl works. Does not know
// where the program really is; the test does.

import { ConfigurationTarget, workspace } from "vscode";
import type { Scenario } from "../../../desk";
import { screenshot, sees } from "../desk";
import { until } from "../wait";
import { finds, openFile, showTree, snarl } from "../window";

export async function noServer({ folders, binary }: Scenario): Promise<void> {
    await openFile(folders[0] as string, "Amy.java");
    const api = await snarl();
    await until("the program is missed", () => (api.status().state === "no-server" ? true : undefined));
    await showTree();
    await sees("The program snarl was not found.");
    await sees("Snarl: not found");
    await screenshot("no-server");

    await workspace.getConfiguration("snarl").update("path", binary, ConfigurationTarget.Global);
    await finds(api, ["race"]);
}
