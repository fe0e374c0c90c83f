// Owns what each scenario finds on the disk: copies of fixtures, and the settings of the window. Does not know what is
// checked there.

import * as fs from "node:fs";
import * as path from "node:path";
import type { Scenario, ScenarioName } from "../desk";
import { program } from "../fixture";
import type { Settings } from "./codeServer";

export interface Prepared {
    scenario: Scenario;
    settings: Settings;
    /** What the window is told to open. */
    query: string;
}

/** A quiet window, in which nothing is saved unless somebody saves it. */
const quiet = {
    "files.autoSave": "off",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": false,
    "workbench.reduceMotion": "on",
    "workbench.colorTheme": "Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": true,
    "editor.minimap.enabled": false,
    "editor.occurrencesHighlight": "off",
    "editor.scrollbar.horizontal": "hidden",
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": false,
    "extensions.ignoreRecommendations": true,
    "git.enabled": false,
};

export function prepare(work: string, repository: string, binary: string): Prepared[] {
    fs.rmSync(work, { recursive: true, force: true });
    const versions = path.join(repository, "fixtures/edits/d4_fig2");
    const steps = fs
        .readdirSync(versions)
        .sort((a, b) => Number(a) - Number(b))
        .map((step) => path.join(versions, step));
    const [quiescent, racy] = steps as [string, string];
    const settings = { user: quiet, machine: { "snarl.path": binary } };

    const folderOf = (name: ScenarioName, from: string) => copy(from, path.join(work, name, "amy"));
    const alone = (name: ScenarioName, from: string): Prepared => {
        const folder = folderOf(name, from);
        return {
            scenario: { name, folders: [folder], steps, binary },
            settings,
            query: `folder=${encodeURIComponent(folder)}`,
        };
    };

    const both = [
        folderOf("two-folders", racy),
        copy(path.join(repository, "examples/bank"), path.join(work, "two-folders", "bank")),
    ];
    const file = path.join(work, "two-folders", "both.code-workspace");
    fs.writeFileSync(file, JSON.stringify({ folders: both.map((folder) => ({ path: path.basename(folder) })) }));

    const bare = path.join(work, "no-jdk", "snarl");
    const noServer = alone("no-server", racy);
    const noJdk = alone("no-jdk", racy);
    const standIn = path.join(__dirname, "../bare/main.js");
    fs.writeFileSync(bare, `#!/bin/sh\nexec node "${standIn}" "${binary}" "$@"\n`, { mode: 0o755 });
    return [
        // The program that came with the extension.
        { ...alone("edits", quiescent), settings: { user: quiet, machine: {} } },
        alone("server-dies", racy),
        {
            scenario: { name: "two-folders", folders: both, steps, binary },
            settings,
            query: `workspace=${encodeURIComponent(file)}`,
        },
        {
            ...noJdk,
            scenario: { ...noJdk.scenario, jdk: findJdk() },
            settings: { user: quiet, machine: { "snarl.path": bare } },
        },
        {
            ...noServer,
            settings: { user: quiet, machine: { "snarl.path": path.join(work, "no-server", "nothing-here") } },
        },
    ];
}

/** Fixtures come without the comments that say what is to be found. */
function copy(from: string, to: string): string {
    fs.cpSync(from, to, { recursive: true, filter: (file) => path.basename(file) !== ".snarl" });
    for (const name of fs.readdirSync(to).filter((name) => name.endsWith(".java"))) {
        const file = path.join(to, name);
        fs.writeFileSync(file, program(fs.readFileSync(file, "utf8")));
    }
    return to;
}

function findJdk(): string {
    const compilers = (process.env["PATH"] ?? "").split(":").map((directory) => path.join(directory, "javac"));
    const found = compilers.find((file) => fs.existsSync(file));
    const home = process.env["JAVA_HOME"] ?? (found && path.dirname(path.dirname(fs.realpathSync(found))));
    if (!home) {
        throw new Error("there is no JDK on this machine");
    }
    return home;
}
