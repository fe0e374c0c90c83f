// Owns the scenario of a machine without a JDK: the user is told what to do, does it, and Snarl works. Does not know
// how a JDK is looked for.

import assert from "node:assert/strict";
import { ConfigurationTarget, workspace } from "vscode";
import type { Scenario } from "../../../desk";
import { screenshot, sees } from "../desk";
import { until } from "../wait";
import { finds, openFile, showTree, snarl } from "../window";

export async function noJdk({ folders, jdk }: Scenario): Promise<void> {
    await openFile(folders[0] as string, "Amy.java");
    const api = await snarl();
    await until("the JDK is missed", () => {
        const status = api.status();
        assert.equal(status.state, "failed");
        assert.equal("reason" in status && status.reason, "no-jdk");
        return true;
    });
    await showTree();
    await sees("Snarl has found no JDK.");
    await sees("Snarl: no JDK");
    await screenshot("no-jdk");

    await workspace.getConfiguration("snarl").update("java", jdk, ConfigurationTarget.Global);
    await finds(api, ["race"]);
}
