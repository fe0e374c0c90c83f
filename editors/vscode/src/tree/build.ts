// Owns what the tree of findings looks like: races by field, deadlocks by lock cycle, the rest by rule, and both sides
// of each below it. Does not know VS Code.

import {
    deed,
    deedIcon,
    firstLocation,
    lockName,
    messageBelow,
    place,
    places,
    ruleWords,
    severity,
    shortMethod,
    shortOrigin,
    subject,
} from "../labels";
import type { Finding, Frame, Location, Lock, Site } from "../protocol";
import { count } from "../status";

export interface Node {
    /** The same for the same thing after the next edit, so that what is open stays open. */
    id: string;
    label: string;
    description?: string;
    tooltip?: string;
    icon: string;
    color?: string;
    location?: Location;
    open: boolean;
    children: Node[];
}

/** So many findings are shown with both sides open. */
const few = 3;

export function buildTree(findings: Finding[]): Node[] {
    const open = findings.length <= few;
    const groups = new Map<string, Finding[]>();
    for (const finding of findings) {
        const key = groupKey(finding);
        groups.set(key, [...(groups.get(key) ?? []), finding]);
    }
    return [...groups].map(([key, members]) => groupNode(key, members, open));
}

function groupKey(finding: Finding): string {
    return byRule(finding) ? finding.rule : `${finding.rule} ${subject(finding)}`;
}

function byRule({ rule }: Finding): boolean {
    return rule !== "race" && rule !== "deadlock";
}

function groupNode(key: string, members: Finding[], open: boolean): Node {
    const first = members[0] as Finding;
    const ids = new Map<string, number>();
    const children = members.map((finding) => {
        // Two folders of one window may hold the same program.
        const before = ids.get(finding.id) ?? 0;
        ids.set(finding.id, before + 1);
        return findingNode(`${key}/${finding.id}${before > 0 ? `#${before}` : ""}`, finding, open);
    });
    return { id: key, ...groupLook(first, members.length), open: true, children };
}

function groupLook(first: Finding, members: number): Pick<Node, "label" | "description" | "tooltip" | "icon"> {
    if (byRule(first)) {
        return {
            label: ruleWords(first),
            description: count(members, "finding"),
            tooltip: first.ruleName,
            icon: "law",
        };
    }
    const icon = first.rule === "race" ? "symbol-field" : "lock";
    return { label: subject(first), description: count(members, first.rule), icon };
}

function findingNode(id: string, finding: Finding, open: boolean): Node {
    return {
        id,
        label: byRule(finding) ? finding.message : messageBelow(finding),
        description: places(finding),
        tooltip: [
            finding.message,
            `${ruleWords(finding)}: ${finding.ruleName}`,
            `${finding.confidence} confidence, id ${finding.id}`,
        ].join("\n"),
        icon: severity(finding),
        color: `problems${severity(finding).replace(/^./, (first) => first.toUpperCase())}Icon.foreground`,
        ...at(firstLocation(finding)),
        open,
        children: [
            ...finding.sites.map((site, index) => siteNode(`${id}/${index}`, site, open)),
            ...linesNode(`${id}/why`, "Why", "question", finding.why),
            ...linesNode(`${id}/fix`, "How to fix", "lightbulb", finding.fix),
        ],
    };
}

function siteNode(id: string, site: Site, open: boolean): Node {
    return {
        id,
        label: deed(site),
        description: site.location
            ? `${place(site.location)} in ${shortMethod(site.method)}`
            : shortMethod(site.method),
        tooltip: `${deed(site)} in ${site.method}, ${site.origin}`,
        icon: deedIcon(site),
        ...at(site.location),
        open,
        children: [
            originNode(`${id}/origin`, site),
            ...lockNodes(`${id}/lock`, site),
            ...traceNode(`${id}/trace`, site.trace),
        ],
    };
}

function originNode(id: string, site: Site): Node {
    return leaf({ id, label: shortOrigin(site), tooltip: site.origin, icon: "git-branch", ...at(site.started) });
}

function lockNodes(id: string, site: Site): Node[] {
    const locks = site.locks.length > 0 ? site.locks : site.holds ? [site.holds] : [];
    if (locks.length === 0) {
        return [leaf({ id, label: "holds no lock", icon: "unlock" })];
    }
    return locks.map((lock, index) => lockNode(`${id}/${index}`, lock));
}

function lockNode(id: string, lock: Lock): Node {
    const label = `holds ${lockName(lock)}`;
    return leaf({ id, label, ...described(lock.location), icon: "lock", ...at(lock.location) });
}

/** The last frame is the side itself: alone it says nothing new. */
function traceNode(id: string, trace: Frame[]): Node[] {
    if (trace.length < 2) {
        return [];
    }
    const children = trace.map((frame, index) =>
        leaf({
            id: `${id}/${index}`,
            label: shortMethod(frame.method),
            ...described(frame.location),
            tooltip: frame.method,
            icon: "symbol-method",
            ...at(frame.location),
        }),
    );
    return [
        { id, label: "calls", description: `${trace.length} deep`, icon: "call-incoming", open: false, children },
    ];
}

function linesNode(id: string, label: string, icon: string, lines: string[]): Node[] {
    if (lines.length === 0) {
        return [];
    }
    const children = lines.map((line, index) =>
        leaf({ id: `${id}/${index}`, label: line, tooltip: line, icon: "dash" }),
    );
    return [{ id, label, icon, open: false, children }];
}

function leaf(node: Omit<Node, "open" | "children">): Node {
    return { ...node, open: false, children: [] };
}

function at(location: Location | undefined): { location?: Location } {
    return location ? { location } : {};
}

function described(location: Location | undefined): { description?: string } {
    return location ? { description: place(location) } : {};
}
