// Owns the menu behind the status bar item. Does not know what its commands do.

import { commands, window, type QuickPickItem } from "vscode";

interface Item extends QuickPickItem {
    command: string;
}

const items: Item[] = [
    { label: "$(list-unordered) List all findings", command: "snarl.listFindings" },
    { label: "$(diff) Show what the last edit changed", command: "snarl.showDelta" },
    { label: "$(list-tree) Show the tree of findings", command: "snarl.tree.focus" },
    { label: "$(refresh) Analyse from nothing", command: "snarl.reanalyse" },
    { label: "$(debug-restart) Restart server", command: "snarl.restart" },
    { label: "$(output) Show output", command: "snarl.showOutput" },
];

export async function showMenu(title: string): Promise<void> {
    const picked = await window.showQuickPick(items, { title, placeHolder: "What Snarl can do" });
    if (picked) {
        await commands.executeCommand(picked.command);
    }
}
