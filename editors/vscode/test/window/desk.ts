// Owns the listener on this machine that the driver turns to, and does to the page what it asks. Does not know what is
// tested.

import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import type { Page } from "playwright-core";
import type { Request, Scenario } from "../desk";

const scenarioLimit = 240_000;
const sightLimit = 30_000;

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
                handler = async (request) => {
                    if (request.ask === "done") {
                        clearTimeout(limit);
                        resolve(request.error);
                        return undefined;
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
    request: Request,
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
        case "done":
            return undefined;
    }
}

async function widenSideBar(page: Page): Promise<void> {
    const box = await page.locator('[id="workbench.parts.sidebar"]').boundingBox();
    if (box) {
        const [edge, middle] = [box.x + box.width, box.y + box.height / 2];
        await page.mouse.move(edge, middle);
        await page.mouse.down();
        await page.mouse.move(edge + 110, middle, { steps: 5 });
        await page.mouse.up();
        await page.mouse.move(edge + 400, middle);
    }
}

async function read(request: http.IncomingMessage): Promise<string> {
    let body = "";
    for await (const chunk of request) {
        body += String(chunk);
    }
    return body;
}
