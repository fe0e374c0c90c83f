// Owns the scenario of one edit after the other: a race appears, a deadlock takes its place, both are gone, and nothing
// is ever saved. Does not know the program; its comments say what is to be found.

import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import {
    commands,
    Range,
    Selection,
    window,
    workspace,
    type CodeAction,
    type TextDocument,
    type TextEditor,
} from "vscode";
import type { SnarlApi } from "../../../../src/api";
import type { Scenario } from "../../../desk";
import { expectations, program, type Expectation } from "../../../fixture";
import { log, screenshot, sees, widenSideBar } from "../desk";
import { contents } from "../disk";
import { pasteTo, typeTo } from "../typing";
import { until } from "../wait";
import { diagnostics, flat, hideSideBar, openFile, ready, showTree, snarl } from "../window";

const file = "Amy.java";

export async function edits({ folders, steps }: Scenario): Promise<void> {
    const folder = folders[0] as string;
    const before = contents(folder);
    const editor = await openFile(folder, file);
    const api = await snarl();
    await ready(api);
    await showTree();
    await widenSideBar();
    await sees("No races or deadlocks found.");
    await sees("Snarl: no findings");
    await screenshot("nothing-found");

    const texts = steps.map((step) => fs.readFileSync(path.join(step, file), "utf8"));
    let last: Expectation[] = [];
    for (const [index, text] of texts.entries()) {
        const expected = expectations(text);
        await pasteTo(editor, program(text));
        await shows(api, editor, expected, `step ${index + 1}`);
        if (index > 0) {
            await changed(api, last, expected);
        }
        if (expected[0]) {
            await pictures(expected[0], editor);
            await otherSide(editor, expected[0]);
            await actions(api, editor, expected[0]);
        }
        last = expected;
    }
    for (const [index, text] of [...texts.entries()].reverse().slice(1)) {
        await typeTo(editor, program(text));
        await shows(api, editor, expectations(text), `back at step ${index + 1}`);
        if (index === 1) {
            await restarted(api, editor, expectations(text));
        }
    }
    assert.ok(editor.document.isDirty, "the text was saved");
    await commands.executeCommand("workbench.action.files.revert");
    assert.deepEqual(contents(folder), before, "the project on the disk is as before");
}

/** Diagnostics, findings, tree and status bar agree with the comments in the text. */
async function shows(api: SnarlApi, editor: TextEditor, expected: Expectation[], when: string): Promise<void> {
    const begin = Date.now();
    const places = expected.flatMap(({ rule, lines }) => lines.map((line) => `${rule} ${line}`)).sort();
    await until(`the diagnostics are those of the comments: ${described(expected)}`, () => {
        assert.deepEqual(diagnostics(editor.document.uri), places);
        return true;
    });
    await until("the tree has the findings", () => {
        assert.deepEqual(
            api.findings().map(({ rule }) => rule),
            expected.map(({ rule }) => rule),
        );
        for (const { rule, lines } of expected) {
            const nodes = flat(api.tree());
            const sites = nodes.filter(({ label }) =>
                rule === "race" ? label === "Write" : label.startsWith("Wants"),
            );
            assert.deepEqual(
                sites.map(({ location }) => (location?.range.start.line ?? -1) + 1).sort(),
                [...lines].sort(),
            );
            const held = nodes.filter(({ label }) => label.startsWith("holds "));
            assert.deepEqual(held.map(({ label }) => label).sort(), ["holds Amy.l1", "holds Amy.l2"]);
        }
        return true;
    });
    await until("the status bar has the number of findings", () => {
        const number = expected.length === 0 ? "no findings" : `${expected.length} finding`;
        assert.match(api.statusBar(), new RegExp(`Snarl: ${number}.* · .* m?s$`));
        return true;
    });
    await log(`${when}: ${described(expected)} after ${Date.now() - begin} ms; ${api.statusBar()}`);
}

/** What the last edit introduced and fixed is the difference of the comments. */
async function changed(api: SnarlApi, last: Expectation[], now: Expectation[]): Promise<void> {
    const delta = await api.delta();
    assert.deepEqual(
        { introduced: delta?.introduced.map(({ rule }) => rule), fixed: delta?.fixed.map(({ rule }) => rule) },
        { introduced: now.map(({ rule }) => rule), fixed: last.map(({ rule }) => rule) },
        `the delta: ${delta?.text}`,
    );
    await quickPick("snarl.showDelta", `The last edit ${delta?.text}`);
}

async function pictures({ rule, lines }: Expectation, editor: TextEditor): Promise<void> {
    editor.selection = new Selection(0, 0, 0, 0);
    editor.revealRange(editor.selection);
    await hideSideBar();
    await commands.executeCommand("workbench.actions.view.problems");
    await screenshot(`${rule}-code`);
    await commands.executeCommand("workbench.action.closePanel");
    await showTree();
    await sees(rule === "race" ? "is written by two threads" : "Amy.l1 → Amy.l2 → Amy.l1");
    await screenshot(`${rule}-tree`);
    await quickPick("snarl.showDelta", "The last edit", `${rule}-delta`);
    await quickPick("snarl.menu", "Restart server", `${rule}-menu`);
    await quickPick("snarl.listFindings", "1 finding", `${rule}-list`, async () => {
        await commands.executeCommand("workbench.action.acceptSelectedQuickOpenItem");
        await cursorIs(lines[0] as number);
    });
}

/** From each side to the other one. */
async function otherSide(editor: TextEditor, { lines }: Expectation): Promise<void> {
    for (const [from, to] of [lines, [...lines].reverse()] as [number, number][]) {
        const { start } = sideAt(editor.document, from);
        editor.selection = new Selection(start, start);
        await commands.executeCommand("snarl.goToOtherSide");
        await cursorIs(to);
    }
}

/** The light bulb at the first side leads to the other one, and suppresses the finding; undone, it is back. */
async function actions(api: SnarlApi, editor: TextEditor, expected: Expectation): Promise<void> {
    const { document } = editor;
    const [first, second] = expected.lines as [number, number];
    const offered = await until("there are code actions", async () => {
        const found = await commands.executeCommand<CodeAction[]>(
            "vscode.executeCodeActionProvider",
            document.uri,
            sideAt(document, first),
        );
        return found.length > 0 ? found : undefined;
    });
    const titled = (beginning: string) => {
        const action = offered.find(({ title }) => title.startsWith(beginning));
        assert.ok(action, `${beginning} is among ${offered.map(({ title }) => title).join(", ")}`);
        return action;
    };
    const { command } = titled("Go to the other side");
    await commands.executeCommand(command?.command ?? "", ...((command?.arguments as unknown[]) ?? []));
    await cursorIs(second);

    const { edit } = titled("Suppress");
    assert.ok(edit && (await workspace.applyEdit(edit)), "the suppression can be written");
    await shows(api, editor, [], `${expected.rule} suppressed`);
    await commands.executeCommand("undo");
    await shows(api, editor, [expected], "undone");
}

/** A new server begins with the text in the editor, not with the one on the disk. */
async function restarted(api: SnarlApi, editor: TextEditor, expected: Expectation[]): Promise<void> {
    await commands.executeCommand("snarl.restart");
    await ready(api);
    await shows(api, editor, expected, "after a restart");
}

/** A command that asks something stays open until somebody answers, so it is not waited for. */
async function quickPick(command: string, text: string, picture?: string, answer = closed): Promise<void> {
    const ended = commands.executeCommand(command);
    await sees(text);
    if (picture) {
        await screenshot(picture);
    }
    await answer();
    await ended;
}

async function closed(): Promise<void> {
    await commands.executeCommand("workbench.action.closeQuickOpen");
}

/** Where the code of a line begins. */
function sideAt(document: TextDocument, line: number): Range {
    const column = document.lineAt(line - 1).firstNonWhitespaceCharacterIndex;
    return new Range(line - 1, column, line - 1, column);
}

function cursorIs(line: number): Promise<unknown> {
    return until(`the cursor is in line ${line}`, () => {
        const active = window.activeTextEditor;
        assert.equal(active?.document.fileName.endsWith(file), true);
        assert.equal((active?.selection.active.line ?? -1) + 1, line);
        return true;
    });
}

function described(expected: Expectation[]): string {
    return expected.map(({ rule, lines }) => `${rule} in lines ${lines.join(" and ")}`).join(", ") || "nothing";
}
