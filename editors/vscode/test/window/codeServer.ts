// Owns the process of code-server, which is VS Code for browsers: on this machine only, with all it writes in one
// directory. Does not know which extensions are in it.

import { spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { deskVariable } from "../desk";

const startLimit = 60_000;
const stopLimit = 10_000;

export interface Settings {
    user: Record<string, unknown>;
    machine: Record<string, unknown>;
}

export interface CodeServer {
    address: string;
    writeSettings(settings: Settings): void;
    stop(): Promise<void>;
}

export async function startCodeServer(work: string, desk: string): Promise<CodeServer> {
    const data = path.join(work, "data");
    const log = fs.createWriteStream(path.join(work, "code-server.log"));
    const process = spawn(
        path.join(work, "code-server"),
        ["--bind-addr", "127.0.0.1:0", "--auth", "none", "--disable-workspace-trust"],
        {
            env: { ...globalThis.process.env, [deskVariable]: desk },
            stdio: ["ignore", "pipe", "pipe"],
            detached: true,
        },
    );
    globalThis.process.once("exit", () => end(process, "SIGKILL"));
    process.stderr.pipe(log);
    process.stdout.pipe(log);
    return {
        address: await addressOf(process),
        writeSettings: (settings) => writeSettings(data, settings),
        stop: () => stop(process),
    };
}

function addressOf(process: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error("code-server does not start; see its log")), startLimit);
        let said = "";
        process.stdout?.on("data", (chunk) => {
            said += String(chunk);
            const address = /listening on (http:\/\/[\d.:]+)/.exec(said)?.[1];
            if (address) {
                clearTimeout(limit);
                resolve(address);
            }
        });
        process.once("error", reject);
        process.once("exit", (code) => reject(new Error(`code-server has ended with code ${code}; see its log`)));
    });
}

async function stop(process: ChildProcess): Promise<void> {
    if (process.exitCode !== null || process.signalCode !== null) {
        return;
    }
    const ended = new Promise<void>((resolve) => process.once("exit", () => resolve()));
    end(process, "SIGTERM");
    const limit = setTimeout(() => end(process, "SIGKILL"), stopLimit);
    await ended;
    clearTimeout(limit);
}

/** Code-server is several processes: they are a group, and end together. */
function end({ pid }: ChildProcess, signal: NodeJS.Signals): void {
    try {
        globalThis.process.kill(-(pid as number), signal);
    } catch {
        // It has ended already.
    }
}

/** A window in a browser takes settings that name programs from the machine, and all others from the user. */
function writeSettings(data: string, settings: Settings): void {
    for (const [place, values] of [
        ["User", settings.user],
        ["Machine", settings.machine],
    ] as const) {
        fs.mkdirSync(path.join(data, place), { recursive: true });
        fs.writeFileSync(path.join(data, place, "settings.json"), JSON.stringify(values, undefined, 2));
    }
}
