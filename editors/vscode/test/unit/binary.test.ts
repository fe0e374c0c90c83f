// Owns the checks of where the program is looked for. Does not look at the disk.

import assert from "node:assert/strict";
import { test } from "node:test";
import { findBinary, type Places } from "../../src/binary";

function find(files: string[], more: Partial<Places> = {}): string | undefined {
    return findBinary({
        setting: "",
        extensionDirectory: "/extension",
        home: "/home/amy",
        searchPath: "/usr/bin::/opt/bin",
        windows: false,
        isFile: (file) => files.includes(file),
        ...more,
    });
}

test("the extension's own comes before the one on the path", () => {
    assert.equal(find(["/opt/bin/snarl", "/extension/server/snarl"]), "/extension/server/snarl");
    assert.equal(find(["/opt/bin/snarl"]), "/opt/bin/snarl");
    assert.equal(find([]), undefined);
});

test("the setting comes first, and nothing stands in for it", () => {
    assert.equal(find(["/mine/snarl", "/opt/bin/snarl"], { setting: "/mine/snarl" }), "/mine/snarl");
    assert.equal(find(["/opt/bin/snarl"], { setting: "/mine/snarl" }), undefined);
});

test("the setting may begin with the home directory, or be a name on the path", () => {
    assert.equal(find(["/home/amy/bin/snarl"], { setting: "~/bin/snarl" }), "/home/amy/bin/snarl");
    assert.equal(find(["/opt/bin/snarl-next"], { setting: "snarl-next" }), "/opt/bin/snarl-next");
});

test("on Windows the suffix may be left out", () => {
    const windows = { windows: true, searchPath: "/a;/b" };
    assert.equal(find(["/b/snarl.exe"], windows), "/b/snarl.exe");
    assert.equal(find(["/mine/snarl.exe"], { ...windows, setting: "/mine/snarl" }), "/mine/snarl.exe");
    assert.equal(find(["/mine/snarl.exe"], { ...windows, setting: "/mine/snarl.exe" }), "/mine/snarl.exe");
});
