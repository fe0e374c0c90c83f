// Owns the item in the status bar. Does not know what the words in it mean.

import { MarkdownString, StatusBarAlignment, ThemeColor, window, type Disposable } from "vscode";
import type { Session } from "./session";
import { statusText, statusTooltip, welcome } from "./status";

export class StatusBar implements Disposable {
    private readonly item = window.createStatusBarItem("snarl.status", StatusBarAlignment.Left, 0);
    private readonly listener: Disposable;

    constructor(
        private readonly session: Session,
        command: string,
    ) {
        this.item.name = "Snarl";
        this.item.command = command;
        this.listener = session.onDidChange(() => this.refresh());
        this.refresh();
        this.item.show();
    }

    get text(): string {
        return this.item.text;
    }

    dispose(): void {
        this.listener.dispose();
        this.item.dispose();
    }

    private refresh(): void {
        const { status } = this.session;
        this.item.text = statusText(status);
        this.item.tooltip = new MarkdownString(statusTooltip(status));
        const broken = ["no-jdk", "no-server", "failed"].includes(welcome(status));
        this.item.backgroundColor = broken ? new ThemeColor("statusBarItem.warningBackground") : undefined;
    }
}
