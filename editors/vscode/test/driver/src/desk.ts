// Owns the line to the test outside of the window. Does not know what is said on it.

import { deskVariable, type Request } from "../../desk";

export function isTest(): boolean {
    return process.env[deskVariable] !== undefined;
}

export async function ask<Answer = null>(request: Request): Promise<Answer> {
    const response = await fetch(process.env[deskVariable] as string, {
        method: "POST",
        body: JSON.stringify(request),
    });
    const text = await response.text();
    if (!response.ok) {
        throw new Error(`${JSON.stringify(request)}: ${text}`);
    }
    return JSON.parse(text) as Answer;
}

export function log(text: string): Promise<unknown> {
    return ask({ ask: "log", text });
}

/** Waits until the text can be seen somewhere in the window. */
export function sees(text: string): Promise<unknown> {
    return ask({ ask: "sees", text });
}

export function screenshot(name: string): Promise<unknown> {
    return ask({ ask: "screenshot", name });
}

/** For the sake of the pictures. */
export function widenSideBar(): Promise<unknown> {
    return ask({ ask: "widen-side-bar" });
}
