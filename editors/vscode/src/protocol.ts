// Owns the words of docs/lsp.md that Snarl adds to the language server protocol. Knows neither VS Code nor how messages
// travel.

export interface Position {
    line: number;
    character: number;
}

export interface Location {
    uri: string;
    range: { start: Position; end: Position };
}

export interface Lock {
    name: string;
    location?: Location;
}

export interface Frame {
    method: string;
    location?: Location;
}

export interface Site {
    access: string;
    method: string;
    origin: string;
    location?: Location;
    started?: Location;
    locks: Lock[];
    holds?: Lock;
    acquires?: Lock;
    trace: Frame[];
}

export interface Finding {
    id: string;
    rule: string;
    ruleName: string;
    confidence: string;
    message: string;
    field?: string;
    locks: string[];
    engines: string[];
    sites: Site[];
    why: string[];
    fix: string[];
}

export interface Findings {
    schema: number;
    findings: Finding[];
}

export interface Delta {
    schema: number;
    text: string;
    milliseconds: number;
    introduced: Finding[];
    fixed: Finding[];
}

export interface State {
    state: "starting" | "analysing" | "ready" | "failed";
    message: string;
    findings: number;
    milliseconds?: number;
    stages?: [name: string, milliseconds: number][];
    reason?: string;
}

export const notifications = { state: "snarl/state", findings: "snarl/findings" } as const;

export const requests = { otherSide: "snarl/otherSide" } as const;

/** Commands of the server; the language client offers them in VS Code under the same names. */
export const serverCommands = { delta: "snarl.delta", analyse: "snarl.analyse" } as const;
