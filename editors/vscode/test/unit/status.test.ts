// Owns the checks of what is said about the state of the server. Does not know VS Code.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { State } from "../../src/protocol";
import { duration, headline, statusText, statusTooltip, welcome } from "../../src/status";

const ready: State = { state: "ready", message: "", findings: 2, milliseconds: 34 };

test("the status bar tells findings and time", () => {
    assert.equal(statusText(ready), "$(warning) Snarl: 2 findings · 34 ms");
    assert.equal(statusText({ ...ready, findings: 1 }), "$(warning) Snarl: 1 finding · 34 ms");
    assert.equal(statusText({ ...ready, findings: 0 }), "$(check) Snarl: no findings · 34 ms");
    assert.equal(statusText({ state: "ready", message: "", findings: 0 }), "$(check) Snarl: no findings");
});

test("it spins while it analyses, and keeps what it said", () => {
    assert.equal(statusText({ ...ready, state: "analysing" }), "$(loading~spin) Snarl: 2 findings · 34 ms");
    assert.equal(statusText({ state: "analysing", message: "", findings: 0 }), "$(loading~spin) Snarl: analysing");
    assert.equal(statusText({ state: "starting", message: "", findings: 0 }), "$(loading~spin) Snarl: starting");
});

test("what is broken is named", () => {
    const failed: State = { state: "failed", message: "why", findings: 0 };
    assert.equal(statusText({ ...failed, reason: "no-jdk" }), "$(error) Snarl: no JDK");
    assert.equal(statusText(failed), "$(error) Snarl: failed");
    assert.equal(statusText({ state: "no-server", message: "" }), "$(error) Snarl: not found");
    assert.equal(statusText({ state: "stopped", message: "" }), "$(error) Snarl: stopped");
});

test("an empty tree says why it is empty", () => {
    assert.equal(welcome({ ...ready, findings: 0 }), "none");
    assert.equal(welcome({ ...ready, state: "analysing" }), "busy");
    assert.equal(welcome({ ...ready, state: "failed", reason: "no-jdk" }), "no-jdk");
    assert.equal(welcome({ ...ready, state: "failed" }), "failed");
    assert.equal(welcome({ state: "no-server", message: "" }), "no-server");
    assert.equal(welcome({ state: "stopped", message: "" }), "failed");
});

test("the tooltip has a row for each stage", () => {
    const stages: [string, number][] = [
        ["compile", 21],
        ["races", 0.25],
    ];
    const tooltip = statusTooltip({ ...ready, stages });
    assert.match(tooltip, /^\*\*Snarl\*\* follows what you type\n/);
    assert.match(tooltip, /\| compile \| 21 ms \|\n\| races \| 0\.3 ms \|$/);
});

test("one line tells the state", () => {
    assert.equal(headline(ready), "follows what you type");
    assert.equal(headline({ ...ready, message: "3 files do not compile" }), "3 files do not compile");
    assert.equal(headline({ ...ready, state: "analysing", message: "points-to" }), "analysing: points-to");
    assert.equal(headline({ state: "starting", message: "", findings: 0 }), "starting");
    assert.equal(headline({ state: "no-server", message: "" }), "not found");
});

test("times are short", () => {
    assert.deepEqual([34, 0.25, 12.7, 0, 1300].map(duration), ["34 ms", "0.3 ms", "13 ms", "0 ms", "1.3 s"]);
});
