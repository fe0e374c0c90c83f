"""Owns programs that are typed: versions of one file, the edits that lead from each to the next, and what must be found
after each. Knows no editor and no protocol."""

import difflib
import pathlib
import re

FIXTURES = pathlib.Path(__file__).resolve().parents[2] / "fixtures"
EXPECTATION = re.compile(r"//~ (?:(no|missed|imprecise|high|medium|low) )?([a-z-]+): ([^/]*)")
OTHERS = re.compile(r" with line ([0-9, ]+)")


def d4_figure_2():
    """A race appears, becomes a deadlock, and is mended; at the end the race is back. Nothing is found in two versions
    in a row, so that an edit fixes all that was there and introduces all that is; of several, nobody knows which."""
    versions = ["1", "2", "3", "4", "2"]
    found = steps([FIXTURES / "edits" / "d4_fig2" / version / "Amy.java" for version in versions])
    for before, after in zip(found, found[1:]):
        if len(after["edits"]) == 1:
            after["delta"] = {"introduced": rules(after), "fixed": rules(before)}
    return found


def echo_figure_2():
    return steps([FIXTURES / "papers" / f"echo_fig2_{version}.java" for version in range(6)])


def steps(files):
    """One step a file; the first has no edits."""
    texts = [file.read_text() for file in files]
    codes = [code(text) for text in texts]
    return [
        {
            "name": title(text),
            "text": after,
            "expected": expected(text),
            "edits": edits(before, after) if before is not None else [],
        }
        for text, before, after in zip(texts, [None, *codes], codes)
    ]


def rules(step):
    return sorted({rule for rule, _ in step["expected"]})


def title(text):
    return text.splitlines()[0].removeprefix("// ").rstrip(".")


def code(text):
    """Without comments, which nobody types; every line stays where it is."""
    lines = [line.split("//")[0].rstrip() for line in text.splitlines()]
    return "\n".join(lines).rstrip() + "\n"


def expected(text):
    """The rule and line, counted from 1, of every place that the expectations name."""
    places = set()
    for number, line in enumerate(text.splitlines(), start=1):
        for kind, rule, about in EXPECTATION.findall(line):
            if kind in ("no", "missed", "low"):
                continue
            others = OTHERS.search(about)
            lines = [int(other) for other in others[1].split(",")] if others else []
            places.update((rule, place) for place in [number, *lines])
    return sorted(places)


def edits(before, after):
    """What to do from the top to the bottom: each replaces what is between two positions, counted from 0, by a text."""
    old, new = before.splitlines(), after.splitlines()
    found = []
    for tag, i, i_end, j, j_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        # All lines above are those of `after` by now, so that line `j` is where the change begins.
        if tag == "replace" and i_end - i == j_end - j:
            found += [edit(j + k, 0, old[i + k], new[j + k]) for k in range(i_end - i)]
        elif tag == "replace":
            found.append(edit(j, 0, "\n".join(old[i:i_end]), "\n".join(new[j:j_end])))
        elif tag != "equal":
            # Whole lines come and go with the end of the line before them, as they do at a keyboard.
            removed = "".join("\n" + line for line in old[i:i_end])
            inserted = "".join("\n" + line for line in new[j:j_end])
            found.append(edit(j - 1, len(new[j - 1]), removed, inserted))
    return found


def edit(line, column, removed, inserted):
    """Without what both texts begin and end with."""
    start = shared(removed, inserted)
    end = shared(removed[start:][::-1], inserted[start:][::-1])
    line, column = moved(line, column, removed[:start])
    removed, inserted = removed[start : len(removed) - end], inserted[start : len(inserted) - end]
    return {"start": [line, column], "end": list(moved(line, column, removed)), "removed": removed, "text": inserted}


def keystrokes(edit):
    """The same edit, with one character removed, last first, or inserted at a time."""
    line, column = edit["start"]
    removed, inserted = edit["removed"], edit["text"]
    for count in reversed(range(len(removed))):
        place = moved(line, column, removed[:count])
        yield {"start": list(place), "end": list(moved(*place, removed[count])), "removed": removed[count], "text": ""}
    for count, character in enumerate(inserted):
        place = list(moved(line, column, inserted[:count]))
        yield {"start": place, "end": place, "removed": "", "text": character}


def typed(steps):
    """The same steps, a character at a time."""
    return [{**step, "edits": [key for edit in step["edits"] for key in keystrokes(edit)]} for step in steps]


def shared(one, other):
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def moved(line, column, text):
    """Where a text that begins at a position ends."""
    lines = text.split("\n")
    return (line, column + len(text)) if len(lines) == 1 else (line + len(lines) - 1, len(lines[-1]))
