// Owns which settings the server gets: those of docs/lsp.md that somebody has set. Does not know what they mean.

import { workspace, type Uri } from "vscode";

export const section = "snarl";

const keys = ["run", "debounce", "engine", "confidence", "rules", "exclude", "guards", "java", "buildTool"];

/** Defaults are left out, so that the server's own hold and `snarl.toml` is not talked over. */
export function serverSettings(resource?: Uri): Record<string, unknown> {
    const configuration = workspace.getConfiguration(section, resource);
    const settings: Record<string, unknown> = {};
    for (const key of keys) {
        const value = configuration.get<unknown>(key);
        if (isSet(configuration.inspect(key)) && value !== "") {
            settings[key] = value;
        }
    }
    return settings;
}

export function binarySetting(): string {
    return workspace.getConfiguration(section).get<string>("path", "");
}

function isSet(
    values: { globalValue?: unknown; workspaceValue?: unknown; workspaceFolderValue?: unknown } | undefined,
): boolean {
    return (
        values !== undefined &&
        [values.globalValue, values.workspaceValue, values.workspaceFolderValue].some((value) => value !== undefined)
    );
}
