// Owns the course of the end-to-end test: each scenario gets a project, a window, and a driver that says how it went.
// Does not know what a scenario checks; the driver does.

import * as fs from "node:fs";
import * as path from "node:path";
import type { Scenario } from "../desk";
import { startBrowser } from "./browser";
import { startCodeServer } from "./codeServer";
import { openDesk } from "./desk";
import { prepare } from "./projects";

async function main(): Promise<void> {
    const [work, repository, binary, ...wanted] = process.argv.slice(2) as [string, string, string, ...string[]];
    const desk = await openDesk();
    const server = await startCodeServer(work, desk.address);
    try {
        const browser = await startBrowser(path.join(work, "browser"));
        try {
            const scenarios = prepare(path.join(work, "projects"), repository, binary);
            let failed = 0;
            for (const { scenario, settings, query } of scenarios.filter(isWanted(wanted))) {
                say(`${scenario.name} …`);
                server.writeSettings(settings);
                const begin = Date.now();
                const error = await browser.inWindow(`${server.address}/?${query}`, (page) =>
                    desk.attend(scenario, page, work),
                );
                say(`${scenario.name}: ${error ?? "passed"} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
                failed += error === undefined ? 0 : 1;
            }
            if (failed > 0) {
                process.exitCode = 1;
                say(`${failed} failed; the logs are below ${path.relative(process.cwd(), work)}`);
            }
        } finally {
            await browser.close();
        }
    } finally {
        await server.stop();
        desk.close();
    }
}

function isWanted(names: string[]): (prepared: { scenario: Scenario }) => boolean {
    return ({ scenario }) => names.length === 0 || names.includes(scenario.name);
}

function say(text: string): void {
    fs.writeSync(1, `window: ${text}\n`);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => process.exit(1));
}
main().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
});
