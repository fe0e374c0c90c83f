// Owns the browser that shows VS Code: started without a screen, with a profile of its own. Does not know what it
// shows.

import * as fs from "node:fs";
import { chromium, type Page } from "playwright-core";

export interface Browser {
    inWindow<Result>(address: string, use: (page: Page) => Promise<Result>): Promise<Result>;
    close(): Promise<void>;
}

export async function startBrowser(profile: string): Promise<Browser> {
    fs.rmSync(profile, { recursive: true, force: true });
    const context = await chromium.launchPersistentContext(profile, {
        executablePath: "/usr/bin/chromium",
        headless: true,
        viewport: { width: 1400, height: 850 },
        deviceScaleFactor: 1.5,
        reducedMotion: "reduce",
        args: [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
        ],
    });
    return {
        inWindow: async (address, use) => {
            const page = await context.newPage();
            try {
                await page.goto(address, { timeout: 60_000 });
                return await use(page);
            } finally {
                // Unsaved text would hold the page back with a question.
                page.on("dialog", (dialog) => void dialog.accept());
                await page.close();
            }
        },
        close: () => context.close(),
    };
}
