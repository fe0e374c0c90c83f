// Owns the life of the process `snarl lsp`, one for all folders of the window, and what is asked of it. Does not know
// what is done with the findings; the session is told, and that is all.

import * as fs from "node:fs";
import * as os from "node:os";
import { workspace, type Disposable, type ExtensionContext, type LogOutputChannel, type Uri } from "vscode";
import {
    DidChangeConfigurationNotification,
    ExecuteCommandRequest,
    State as ClientState,
    type LanguageClient,
} from "vscode-languageclient/node";
import { findBinary } from "./binary";
import { createClient } from "./client";
import {
    notifications,
    requests,
    serverCommands,
    type Delta,
    type Findings,
    type Location,
    type State,
} from "./protocol";
import type { Session } from "./session";
import { binarySetting, section, serverSettings } from "./settings";

/** What is wrong with these keeps the server from starting or from analysing, so a change begins anew. */
const startSettings = [`${section}.path`, `${section}.java`];

export class Server implements Disposable {
    private client: LanguageClient | undefined;
    /** Starting and stopping happen one after the other, in the order they were asked for. */
    private last: Promise<void> = Promise.resolve();
    private readonly listener: Disposable;

    constructor(
        private readonly context: ExtensionContext,
        private readonly session: Session,
        private readonly output: LogOutputChannel,
    ) {
        this.listener = workspace.onDidChangeConfiguration((event) => {
            if (startSettings.some((setting) => event.affectsConfiguration(setting))) {
                void this.restart();
            } else if (event.affectsConfiguration(section)) {
                void this.tellSettings();
            }
        });
    }

    start(): Promise<void> {
        return this.inTurn(() => this.startNow());
    }

    restart(): Promise<void> {
        return this.inTurn(async () => {
            await this.stopNow();
            await this.startNow();
        });
    }

    stop(): Promise<void> {
        return this.inTurn(() => this.stopNow());
    }

    async delta(): Promise<Delta | null> {
        return this.execute<Delta | null>(serverCommands.delta);
    }

    async analyse(): Promise<void> {
        await this.execute(serverCommands.analyse);
    }

    async otherSide(uri: Uri, line: number, character: number): Promise<Location[]> {
        const client = this.running();
        const textDocument = { uri: client.code2ProtocolConverter.asUri(uri) };
        const params = { textDocument, position: { line, character } };
        return (await client.sendRequest<Location[] | null>(requests.otherSide, params)) ?? [];
    }

    dispose(): void {
        this.listener.dispose();
    }

    private async startNow(): Promise<void> {
        const command = this.binary();
        if (command === undefined) {
            this.session.serverIs({ state: "no-server", message: "set its path, or put it on the PATH" });
            return;
        }
        this.session.serverIs({ state: "starting", message: "", findings: 0 });
        this.output.info(`starting ${command} lsp`);
        const client = createClient(command, this.output);
        client.onNotification(notifications.state, (state: State) => this.session.stateIs(state));
        client.onNotification(notifications.findings, (found: Findings) => this.session.findingsAre(found.findings));
        client.onDidChangeState(({ newState }) => {
            if (newState === ClientState.Stopped && this.client === client) {
                this.session.serverIs({ state: "stopped", message: "the output may say why" });
            }
        });
        this.client = client;
        try {
            await client.start();
        } catch (error) {
            this.output.error(String(error));
            this.session.serverIs({ state: "stopped", message: "it did not start; the output may say why" });
        }
    }

    private async stopNow(): Promise<void> {
        const client = this.client;
        this.client = undefined;
        try {
            await client?.dispose();
        } catch (error) {
            // A client whose server has died cannot be stopped, and need not be.
            this.output.debug(String(error));
        }
    }

    private binary(): string | undefined {
        return findBinary({
            setting: binarySetting(),
            extensionDirectory: this.context.extensionPath,
            home: os.homedir(),
            searchPath: process.env["PATH"] ?? "",
            windows: process.platform === "win32",
            isFile,
        });
    }

    private async tellSettings(): Promise<void> {
        if (this.client?.isRunning()) {
            await this.client.sendNotification(DidChangeConfigurationNotification.type, {
                settings: { [section]: serverSettings() },
            });
        }
    }

    private execute<Result>(command: string): Promise<Result> {
        return this.running().sendRequest(ExecuteCommandRequest.type, { command }) as Promise<Result>;
    }

    private running(): LanguageClient {
        if (!this.client?.isRunning()) {
            throw new Error("Snarl is not running.");
        }
        return this.client;
    }

    private inTurn(step: () => Promise<void>): Promise<void> {
        this.last = this.last.then(step, step);
        return this.last;
    }
}

function isFile(file: string): boolean {
    try {
        return fs.statSync(file).isFile();
    } catch {
        return false;
    }
}
