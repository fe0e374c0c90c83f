// Owns what the server has said last: its status and the findings. Does not know the server, nor who shows any of it.

import { EventEmitter } from "vscode";
import type { Finding, State } from "./protocol";
import type { Status } from "./status";

export class Session {
    private readonly changed = new EventEmitter<void>();
    private currentStatus: Status = { state: "starting", message: "", findings: 0 };
    private currentFindings: Finding[] = [];

    readonly onDidChange = this.changed.event;

    get status(): Status {
        return this.currentStatus;
    }

    get findings(): Finding[] {
        return this.currentFindings;
    }

    /** The time of the last analysis stays until there is a newer one. */
    stateIs(state: State): void {
        const last = this.currentStatus;
        const kept =
            state.milliseconds === undefined && "milliseconds" in last && last.milliseconds !== undefined
                ? { milliseconds: last.milliseconds, ...(last.stages ? { stages: last.stages } : {}) }
                : {};
        this.currentStatus = { ...kept, ...state };
        this.changed.fire();
    }

    findingsAre(findings: Finding[]): void {
        this.currentFindings = findings;
        this.changed.fire();
    }

    /** Without a server nothing is known. */
    serverIs(status: Status): void {
        this.currentStatus = status;
        this.currentFindings = [];
        this.changed.fire();
    }

    dispose(): void {
        this.changed.dispose();
    }
}
