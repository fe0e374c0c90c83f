"""A real project to edit through the language server: Lucene's core with a program that uses it, laid out and built as
Maven does it; and edits of its files as people make them. Knows nothing of the protocol."""

import io
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import zipfile

import corpus

sys.path.insert(0, str(corpus.BENCH.parent / "compiler"))
import tools

PROJECT = ("org.apache.lucene", "lucene-core", "9.12.1")
SOURCES = "cd29b1559f7bf2eb6a29cb0aa14a62417f8735a7beec3117cd2efcb25514d04e"
POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>bench</groupId><artifactId>lucene</artifactId><version>1</version>
<properties><maven.compiler.release>17</maven.compiler.release></properties></project>
"""
STATEMENT = re.compile(r"^\s+[a-zA-Z_][\w.]*(\([^{}]*\)|\s*[-+]?=[^{}]*|\+\+|--);\s*$")
METHOD = re.compile(r"^  (public |private |protected )?(final )?(void|int|long|boolean|double|String) \w+\(.*\{\s*$")


def make(where):
    """The project in a directory, built unless it is there; its classes are counted."""
    root = pathlib.Path(where)
    classes = root / "target/classes"
    if not classes.is_dir():
        shutil.rmtree(root, ignore_errors=True)
        source = root / "src/main/java"
        source.mkdir(parents=True)
        jar = tools.artifact(*PROJECT, SOURCES, "sources")
        with zipfile.ZipFile(io.BytesIO(jar)) as archive:
            archive.extractall(source, [name for name in archive.namelist() if name.endswith(".java")])
        (source / "module-info.java").unlink(missing_ok=True)
        shutil.copy(corpus.BENCH / "drivers/lucene9/LuceneDriver.java", source)
        (root / "pom.xml").write_text(POM)
        files = root / "files"
        files.write_text("\n".join(str(path) for path in sorted(source.rglob("*.java"))))
        command = [tools.tool("javac"), "-nowarn", "-g", "--release", "17", "-proc:none", "-d", classes, f"@{files}"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        files.unlink()
    return root, sum(1 for _ in classes.rglob("*.class"))


def file_of(root, lines):
    """The source whose length is nearest, among those with enough to edit."""
    def distance(path):
        text = path.read_text()
        return abs(text.count("\n") - lines) if len(places(text)) >= 8 else 1 << 30

    return min(sorted((root / "src/main/java").rglob("*.java")), key=distance)


def places(text):
    """Lines with a statement that stands alone."""
    return [number for number, line in enumerate(text.split("\n")) if STATEMENT.match(line)]


class Edits:
    """Edits one after the other, each a name and the next text; after an even number the text is the first again."""

    def __init__(self, text, seed):
        self.text = text
        self.random = random.Random(seed)

    def __iter__(self):
        while True:
            kind = self.random.choice([self.delete, self.insert, self.toggle, self.cut, self.type])
            for name, text in kind():
                yield name, text
            yield "undo", self.text

    def lines(self):
        lines = self.text.split("\n")
        return lines, self.random.choice(places(self.text))

    def delete(self):
        lines, at = self.lines()
        del lines[at]
        yield "delete a statement", "\n".join(lines)

    def insert(self):
        lines, at = self.lines()
        indent = re.match(r"\s*", lines[at]).group()
        lines.insert(at, indent + "synchronized (this.getClass()) { System.out.println(); }")
        yield "insert a statement", "\n".join(lines)

    def toggle(self):
        lines = self.text.split("\n")
        heads = [number for number, line in enumerate(lines) if METHOD.match(line)]
        if not heads:
            yield from self.delete()
            return
        at = self.random.choice(heads)
        lines[at] = re.sub(r"\b(void|int|long|boolean|double|String) ", r"synchronized \1 ", lines[at], count=1)
        yield "make a method synchronized", "\n".join(lines)

    def cut(self):
        lines, at = self.lines()
        lines[at] = lines[at].rstrip()[:-1]
        yield "cut a semicolon off", "\n".join(lines)

    def type(self):
        """A statement, character by character."""
        lines, at = self.lines()
        indent = re.match(r"\s*", lines[at]).group()
        lines.insert(at, indent)
        for character in "Thread.yield();":
            lines[at] += character
            yield "type a character", "\n".join(lines)
