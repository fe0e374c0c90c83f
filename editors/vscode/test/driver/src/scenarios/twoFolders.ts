// Owns the scenario of two folders in one window: one server tells the findings of both, whichever is edited. Does not
// know the programs well.

import assert from "node:assert/strict";
import * as path from "node:path";
import { commands, Position, Uri, ViewColumn, window } from "vscode";
import type { Scenario } from "../../../desk";
import { screenshot, sees, widenSideBar } from "../desk";
import { contents } from "../disk";
import { stays, until } from "../wait";
import { diagnostics, openFile, ready, showTree, snarl } from "../window";

export async function twoFolders({ folders }: Scenario): Promise<void> {
    const [amy, bank] = folders as [string, string];
    const amyFile = Uri.file(path.join(amy, "Amy.java"));
    const bankFile = Uri.file(path.join(bank, "src/bank/Bank.java"));
    const before = folders.map(contents);
    const bothShow = (bankLine: number) => {
        assert.deepEqual(diagnostics(amyFile), ["race 11", "race 21"]);
        assert.deepEqual(diagnostics(bankFile), [`race ${bankLine}`]);
        return true;
    };
    await openFile(amy, "Amy.java");
    const api = await snarl();
    await ready(api);
    await until("there are findings of both folders", () => {
        const fields = api.findings().flatMap(({ field }) => field ?? []);
        assert.deepEqual(fields.sort(), ["Amy.x", "bank.Bank.transfers"]);
        return true;
    });
    await until("there are diagnostics in both folders, also where no file is open", () => bothShow(30));
    await showTree();
    await widenSideBar();
    await sees("bank.Bank.transfers");
    await screenshot("two-folders");

    const editor = await window.showTextDocument(bankFile, { viewColumn: ViewColumn.Beside });
    await editor.edit((edit) => edit.insert(new Position(0, 0), "// the bank\n"));
    await until("the finding has moved", () => {
        const sites = api.findings().find(({ field }) => field === "bank.Bank.transfers")?.sites;
        return sites?.[0]?.location?.range.start.line === 30 ? true : undefined;
    });
    await until("both folders still have their diagnostics", () => bothShow(31));
    await stays(() => bothShow(31));
    await commands.executeCommand("workbench.action.files.revert");
    assert.deepEqual(folders.map(contents), before, "the projects on the disk are as before");
}
