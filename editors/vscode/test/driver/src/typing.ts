// Owns edits: turns the text of an editor into another one, at once or word by word, and saves nothing. Does not know
// Java.

import { Range, type TextEditor } from "vscode";

/** As if pasted: one edit of what is different. */
export async function pasteTo(editor: TextEditor, wanted: string): Promise<void> {
    const { start, end, text } = difference(editor.document.getText(), wanted);
    await replace(editor, start, end, text);
    isNow(editor, wanted);
}

/** Half-typed text is what an editor is full of, so each word is an edit of its own. */
export async function typeTo(editor: TextEditor, wanted: string): Promise<void> {
    const { start, end, text } = difference(editor.document.getText(), wanted);
    await replace(editor, start, end, "");
    let offset = start;
    for (const word of text.match(/\s+|\S+/g) ?? []) {
        await replace(editor, offset, offset, word);
        offset += word.length;
    }
    isNow(editor, wanted);
}

function difference(now: string, wanted: string): { start: number; end: number; text: string } {
    const before = sameLength(now, wanted);
    const after = sameLength(reversed(now.slice(before)), reversed(wanted.slice(before)));
    return { start: before, end: now.length - after, text: wanted.slice(before, wanted.length - after) };
}

function isNow(editor: TextEditor, wanted: string): void {
    if (editor.document.getText() !== wanted) {
        throw new Error(`the text is not the one that was wanted:\n${editor.document.getText()}`);
    }
}

async function replace(editor: TextEditor, start: number, end: number, text: string): Promise<void> {
    if (start === end && text === "") {
        return;
    }
    const { document } = editor;
    const range = new Range(document.positionAt(start), document.positionAt(end));
    if (!(await editor.edit((edit) => edit.replace(range, text)))) {
        throw new Error("the editor takes no edits");
    }
}

function sameLength(a: string, b: string): number {
    let length = 0;
    while (length < a.length && length < b.length && a[length] === b[length]) {
        length += 1;
    }
    return length;
}

function reversed(text: string): string {
    return [...text].reverse().join("");
}
