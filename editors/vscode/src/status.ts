// Owns what the user is told about the state of the server: text, icon, tooltip, and which welcome fits an empty tree.
// Does not know where the state comes from, nor how VS Code shows it.

import type { State } from "./protocol";

/** The server's own state, or that there is no server to have one. */
export type Status = State | { state: "no-server" | "stopped"; message: string };

export type Welcome = "found" | "none" | "busy" | "no-jdk" | "no-server" | "failed";

export function welcome(status: Status): Welcome {
    switch (status.state) {
        case "no-server":
            return "no-server";
        case "stopped":
            return "failed";
        case "starting":
        case "analysing":
            return "busy";
        case "failed":
            return status.reason === "no-jdk" ? "no-jdk" : "failed";
        case "ready":
            return status.findings > 0 ? "found" : "none";
    }
}

/** What the status bar says, with VS Code's names of icons in it. */
export function statusText(status: Status): string {
    switch (status.state) {
        case "no-server":
            return "$(error) Snarl: not found";
        case "stopped":
            return "$(error) Snarl: stopped";
        case "starting":
            return "$(loading~spin) Snarl: starting";
        case "analysing":
            return status.milliseconds === undefined
                ? "$(loading~spin) Snarl: analysing"
                : `$(loading~spin) Snarl: ${counted(status)}`;
        case "failed":
            return status.reason === "no-jdk" ? "$(error) Snarl: no JDK" : "$(error) Snarl: failed";
        case "ready":
            return `${status.findings > 0 ? "$(warning)" : "$(check)"} Snarl: ${counted(status)}`;
    }
}

/** Markdown: the state, and a table of the stages if the server told any. */
export function statusTooltip(status: Status): string {
    const parts = [`**Snarl** ${headline(status)}`];
    const stages = "stages" in status ? (status.stages ?? []) : [];
    if (stages.length > 0) {
        const rows = stages.map(([name, milliseconds]) => `| ${name} | ${duration(milliseconds)} |`);
        parts.push(["| last analysis | |", "|:--|--:|", ...rows].join("\n"));
    }
    return parts.join("\n\n");
}

/** One line that continues the name: `analysing: points-to`, `follows what you type`. */
export function headline(status: Status): string {
    const { state, message } = status;
    if (state === "ready") {
        return message || "follows what you type";
    }
    const words = state === "no-server" ? "not found" : state;
    return message ? `${words}: ${message}` : words;
}

export function duration(milliseconds: number): string {
    if (milliseconds >= 1000) {
        return `${(milliseconds / 1000).toFixed(1)} s`;
    }
    return milliseconds >= 10 || Number.isInteger(milliseconds)
        ? `${Math.round(milliseconds)} ms`
        : `${milliseconds.toFixed(1)} ms`;
}

export function count(number: number, what: string): string {
    return number === 1 ? `1 ${what}` : `${number} ${what}s`;
}

function counted(state: State): string {
    const findings = state.findings === 0 ? "no findings" : count(state.findings, "finding");
    return state.milliseconds === undefined ? findings : `${findings} · ${duration(state.milliseconds)}`;
}
