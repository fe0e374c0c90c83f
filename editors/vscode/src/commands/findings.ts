// Owns the lists of findings one picks from to get to the code: all of them, or those of the last edit. Does not know
// where findings come from.

import { QuickPickItemKind, window, type QuickPickItem } from "vscode";
import { firstLocation, places, ruleWords, severity } from "../labels";
import { open } from "../open";
import type { Delta, Finding } from "../protocol";
import { count, duration } from "../status";

interface Item extends QuickPickItem {
    finding?: Finding;
}

export async function listFindings(findings: Finding[]): Promise<void> {
    if (findings.length === 0) {
        void window.showInformationMessage("Snarl has no findings.");
        return;
    }
    await pick(
        findings.map((finding) => item(finding, severity(finding))),
        count(findings.length, "finding"),
    );
}

export async function showDelta(delta: Delta | null): Promise<void> {
    if (!delta || delta.introduced.length + delta.fixed.length === 0) {
        void window.showInformationMessage("No edit has changed a finding yet.");
        return;
    }
    const items = [
        ...part(
            "introduced",
            delta.introduced.map((finding) => item(finding, severity(finding))),
        ),
        ...part(
            "fixed",
            delta.fixed.map((finding) => item(finding, "pass")),
        ),
    ];
    await pick(items, `The last edit ${delta.text} · ${duration(delta.milliseconds)}`);
}

function part(name: string, items: Item[]): Item[] {
    return items.length === 0 ? [] : [{ label: name, kind: QuickPickItemKind.Separator }, ...items];
}

function item(finding: Finding, icon: string): Item {
    return {
        label: `$(${icon}) ${finding.message}`,
        detail: [ruleWords(finding), `${finding.confidence} confidence`, places(finding)].filter(Boolean).join(" · "),
        finding,
    };
}

async function pick(items: Item[], title: string): Promise<void> {
    const picked = await window.showQuickPick(items, {
        title,
        placeHolder: "Go to a finding",
        matchOnDetail: true,
    });
    const location = picked?.finding && firstLocation(picked.finding);
    if (location) {
        await open(location);
    }
}
