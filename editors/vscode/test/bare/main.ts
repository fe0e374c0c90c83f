// Owns a stand-in for `snarl lsp` on a machine without a JDK, which is hard to have where one is installed: it says so,
// unless the settings name one, and then hands over to the real program. Knows no more of the protocol than that.

import { spawn } from "node:child_process";
import { notifications, type State } from "../../src/protocol";

const [binary, ...rest] = process.argv.slice(2) as [string, ...string[]];
let said = Buffer.alloc(0);

process.stdin.on("data", function listen(chunk: Buffer) {
    said = Buffer.concat([said, chunk]);
    const message = firstMessage(said);
    if (message === undefined) {
        return;
    }
    process.stdin.off("data", listen);
    if (message.params.initializationOptions?.java) {
        handOver();
    } else {
        complain(message.id);
    }
});
process.stdin.on("end", () => process.exit());

interface Initialize {
    id: number;
    params: { initializationOptions?: { java?: string } };
}

function firstMessage(bytes: Buffer): Initialize | undefined {
    const head = bytes.indexOf("\r\n\r\n");
    const length = Number(/Content-Length: (\d+)/i.exec(bytes.toString("latin1", 0, Math.max(head, 0)))?.[1]);
    const body = bytes.subarray(head + 4);
    return head >= 0 && body.length >= length
        ? (JSON.parse(body.toString("utf8", 0, length)) as Initialize)
        : undefined;
}

function handOver(): void {
    const server = spawn(binary, rest, { stdio: ["pipe", "inherit", "inherit"] });
    server.stdin.write(said);
    process.stdin.pipe(server.stdin);
    server.once("exit", (code) => process.exit(code ?? 1));
}

function complain(id: number): void {
    const state: State = { state: "failed", message: "no JDK found", findings: 0, reason: "no-jdk" };
    send({ id, result: { capabilities: {} } });
    send({ method: notifications.state, params: state });
    // Nothing else is answered; whoever stops a server does not wait for ever.
    process.stdin.resume();
}

function send(message: object): void {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
