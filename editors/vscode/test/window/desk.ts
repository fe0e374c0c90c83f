// Owns the listener on this machine that the driver turns to, and does to the page what it asks. Does not know what is
// tested.

import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import type { Page } from "playwright-core";
import type { Request, Scenario } from "../desk";

const scenarioLimit = 240_000;
const sightLimit = 30_000;
const openLimit = 60_000;
/** How often a window is opened until it is as it should be. */
const openings = 3;

export interface Desk {
    address: string;
    /** Serves one window until its driver is done; the answer is what went wrong, if anything did. */
    attend(scenario: Scenario, page: Page, shots: string): Promise<string | undefined>;
    close(): void;
}

type Handler = (request: Request) => Promise<unknown>;

export async function openDesk(): Promise<Desk> {
    let handler: Handler = () => Promise.reject(new Error("no scenario"));
    const server = http.createServer((request, response) => {
        read(request)
            .then((body) => handler(JSON.parse(body) as Request))
            .then(
                (answer) => response.end(JSON.stringify(answer ?? null)),
                (error: unknown) => response.writeHead(500).end(String(error)),
            );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
        address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        attend: async (scenario, page, shots) => {
            const name = (shot: string) => path.join(shots, `${shot}.png`);
            const ended = new Promise<string | undefined>((resolve) => {
                const limit = setTimeout(() => resolve(`not done after ${scenarioLimit / 1000} s`), scenarioLimit);
                const end = (error?: string) => {
                    clearTimeout(limit);
                    resolve(error);
                };
                let opened = 1;
                handler = async (request) => {
                    if (request.ask === "done") {
                        return end(request.error);
                    }
                    if (request.ask === "open-again") {
                        opened += 1;
                        return opened > openings
                            ? end(`${request.why}, though it was opened ${openings} times`)
                            : openAgain(page, request.why).catch((error: unknown) => end(String(error)));
                    }
                    return serve(request, scenario, page, name);
                };
            });
            const error = await ended;
            if (error !== undefined) {
                await page.screenshot({ path: name(`failed-${scenario.name}`) });
            }
            return error;
        },
        close: () => {
            server.closeAllConnections();
            server.close();
        },
    };
}

async function serve(
    request: Exclude<Request, { ask: "done" | "open-again" }>,
    scenario: Scenario,
    page: Page,
    file: (name: string) => string,
): Promise<unknown> {
    switch (request.ask) {
        case "scenario":
            return scenario;
        case "log":
            console.log(`  ${request.text}`);
            return undefined;
        case "screenshot":
            await page.screenshot({ path: file(request.name), animations: "disabled" });
            return undefined;
        case "sees":
            await page.getByText(request.text).filter({ visible: true }).first().waitFor({ timeout: sightLimit });
            return undefined;
        case "widen-side-bar":
            await widenSideBar(page);
            return undefined;
    }
}

/**
 * VS Code in a browser reads a workspace file and what it keeps of the last time side by side. If both come at the same
 * moment, the folders of a file that was never open before are lost, and only the next opening has them.
 */
async function openAgain(page: Page, why: string): Promise<void> {
    console.log(`  opened again: ${why}`);
    await page.reload({ timeout: openLimit });
}

async function widenSideBar(page: Page): Promise<void> {
    const box = await page.locator('[id="workbench.parts.sidebar"]').boundingBox();
    if (box) {
        const [edge, middle] = [box.x + box.width, box.y + box.height / 2];
        await page.mouse.move(edge, middle);
        await page.mouse.down();
        await page.mouse.move(edge + 200, middle, { steps: 5 });
        await page.mouse.up();
        // Nothing pops up over the middle of the status bar.
        await page.mouse.move(edge + 350, box.y + box.height + 15);
    }
}

async function read(request: http.IncomingMessage): Promise<string> {
    let body = "";
    for await (const chunk of request) {
        body += String(chunk);
    }
    return body;
}
