// Owns what other extensions, and the tests, may ask this one. Does not know how any of it is made.

import type { Event } from "vscode";
import type { Delta, Finding } from "./protocol";
import type { Status } from "./status";
import type { Node } from "./tree/build";

export interface SnarlApi {
    status(): Status;
    statusBar(): string;
    findings(): Finding[];
    tree(): Node[];
    delta(): Promise<Delta | null>;
    readonly onDidChange: Event<void>;
}
