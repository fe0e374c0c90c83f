// Owns the view "Findings": shows the nodes of the tree, the number on the icon, and the welcome of an empty view. Does
// not know how a finding becomes nodes.

import {
    commands,
    EventEmitter,
    ThemeColor,
    ThemeIcon,
    TreeItem,
    TreeItemCollapsibleState,
    window,
    type Disposable,
    type TreeDataProvider,
} from "vscode";
import { openCommand } from "../open";
import type { Session } from "../session";
import { count, welcome } from "../status";
import { buildTree, type Node } from "./build";

export class FindingsView implements TreeDataProvider<Node>, Disposable {
    private readonly changed = new EventEmitter<void>();
    private readonly view;
    private readonly listener;
    private roots: Node[] = [];

    readonly onDidChangeTreeData = this.changed.event;

    constructor(private readonly session: Session) {
        this.view = window.createTreeView<Node>("snarl.tree", { treeDataProvider: this, showCollapseAll: true });
        this.listener = session.onDidChange(() => this.refresh());
        this.refresh();
    }

    get nodes(): Node[] {
        return this.roots;
    }

    getChildren(node?: Node): Node[] {
        return node ? node.children : this.roots;
    }

    getTreeItem(node: Node): TreeItem {
        const item = new TreeItem(node.label, collapsible(node));
        item.id = node.id;
        item.iconPath = new ThemeIcon(node.icon, node.color ? new ThemeColor(node.color) : undefined);
        if (node.description) {
            item.description = node.description;
        }
        if (node.tooltip) {
            item.tooltip = node.tooltip;
        }
        if (node.location) {
            item.command = { command: openCommand, title: "Open", arguments: [node.location] };
        }
        return item;
    }

    dispose(): void {
        this.listener.dispose();
        this.view.dispose();
        this.changed.dispose();
    }

    private refresh(): void {
        const { findings, status } = this.session;
        this.roots = buildTree(findings);
        this.view.badge =
            findings.length > 0 ? { value: findings.length, tooltip: count(findings.length, "finding") } : undefined;
        void commands.executeCommand("setContext", "snarl.welcome", findings.length > 0 ? "found" : welcome(status));
        this.changed.fire();
    }
}

function collapsible(node: Node): TreeItemCollapsibleState {
    if (node.children.length === 0) {
        return TreeItemCollapsibleState.None;
    }
    return node.open ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed;
}
