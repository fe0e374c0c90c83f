// Owns the search for the program `snarl`: the setting, then the extension's own, then `PATH`. Does not start it.

import * as path from "node:path";

export interface Places {
    /** The setting `snarl.path`. */
    setting: string;
    extensionDirectory: string;
    home: string;
    /** `PATH` of the environment. */
    searchPath: string;
    windows: boolean;
    isFile: (file: string) => boolean;
}

/** A setting that names nothing is not made up for by another program: the user wants that one. */
export function findBinary(places: Places): string | undefined {
    return candidates(places).find(places.isFile);
}

function candidates(places: Places): string[] {
    const setting = places.setting.trim();
    if (setting !== "") {
        const file = setting.replace(/^~(?=$|[/\\])/, () => places.home);
        return isBareName(file) ? onSearchPath(file, places) : withSuffix(file, places);
    }
    return [
        ...withSuffix(path.join(places.extensionDirectory, "server", "snarl"), places),
        ...onSearchPath("snarl", places),
    ];
}

function isBareName(file: string): boolean {
    return !/[/\\]/.test(file);
}

function onSearchPath(name: string, places: Places): string[] {
    return places.searchPath
        .split(places.windows ? ";" : ":")
        .filter((directory) => directory !== "")
        .flatMap((directory) => withSuffix(path.join(directory, name), places));
}

function withSuffix(file: string, places: Places): string[] {
    return places.windows && !file.toLowerCase().endsWith(".exe") ? [`${file}.exe`, file] : [file];
}
