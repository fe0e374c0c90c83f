// Owns the start of a scenario when the window is up, and the report at its end. Does not know what is checked.

import type { Scenario } from "../../desk";
import { ask, isTest } from "./desk";
import { edits } from "./scenarios/edits";
import { noJdk } from "./scenarios/noJdk";
import { noServer } from "./scenarios/noServer";
import { serverDies } from "./scenarios/serverDies";
import { twoFolders } from "./scenarios/twoFolders";
import { hasFolders } from "./window";

export async function activate(): Promise<void> {
    if (isTest()) {
        void start(await ask<Scenario>({ ask: "scenario" }));
    }
}

async function start(scenario: Scenario): Promise<void> {
    try {
        await hasFolders(scenario.folders);
    } catch (error) {
        await ask({ ask: "open-again", why: error instanceof Error ? error.message : String(error) });
        return;
    }
    await report(scenario);
}

async function report(scenario: Scenario): Promise<void> {
    try {
        await run(scenario);
        await ask({ ask: "done" });
    } catch (error) {
        await ask({ ask: "done", error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
}

function run(scenario: Scenario): Promise<void> {
    switch (scenario.name) {
        case "edits":
            return edits(scenario);
        case "server-dies":
            return serverDies(scenario);
        case "no-server":
            return noServer(scenario);
        case "no-jdk":
            return noJdk(scenario);
        case "two-folders":
            return twoFolders(scenario);
    }
}
