// Owns the checks of how fixtures are read. Does not read any from the disk.

import assert from "node:assert/strict";
import { test } from "node:test";
import { expectations, program } from "../fixture";

const text = `class Amy {
    int x; //~ no race: x
    void a() { x = 1; } //~ race: x with line 4
    void b() { x = 2; }
    void c() { both(); } //~ deadlock: l1 -> l2 with line 2 //~ race: y with line 5
}
//- redone: 1 body
`;

test("what is expected has a rule and two lines", () => {
    assert.deepEqual(expectations(text), [
        { rule: "race", lines: [3, 4] },
        { rule: "deadlock", lines: [5, 2] },
        { rule: "race", lines: [5, 5] },
    ]);
});

test("the program is the text without the comments, line by line", () => {
    assert.equal(
        program(text),
        "class Amy {\n    int x;\n    void a() { x = 1; }\n    void b() { x = 2; }\n    void c() { both(); }\n}\n",
    );
});
