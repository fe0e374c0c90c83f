"""What bench/corpus.toml and bench/scale.toml say, for the other tools. Touches no network and starts no program."""

import hashlib
import importlib.machinery
import importlib.util
import pathlib
import sys
import tomllib
from dataclasses import dataclass, replace

BENCH = pathlib.Path(__file__).resolve().parent
CORPUS = BENCH / "corpus"
PROGRAMS = BENCH / "corpus.toml"
SCALE = BENCH / "scale.toml"
PINS = "[sha256]\n"


@dataclass(frozen=True)
class Artifact:
    group: str
    name: str
    version: str
    classifier: str = ""

    def __str__(self):
        return ":".join(filter(None, [self.group, self.name, self.version, self.classifier]))

    @property
    def path(self):
        return CORPUS / ("-".join(filter(None, [self.name, self.version, self.classifier])) + ".jar")

    @property
    def sources(self):
        return replace(self, classifier="sources")


@dataclass(frozen=True)
class Program:
    name: str
    about: str
    program: list
    libraries: list
    mains: list
    driver: str | None

    @property
    def driver_sources(self):
        return sorted((BENCH / "drivers" / self.driver).glob("*.java")) if self.driver else []

    @property
    def driver_classes(self):
        return CORPUS / f"{self.name}-driver"


def load(file=PROGRAMS):
    """All programs of a file, and the pinned checksum of each artifact by its coordinates."""
    table = tomllib.loads(file.read_text())
    return [_program(entry) for entry in table["program"]], table.get("sha256", {})


def _program(entry):
    def artifacts(key):
        return [Artifact(*coordinates.split(":")) for coordinates in entry.get(key, [])]

    mains, driver = entry.get("mains", []), entry.get("driver")
    return Program(entry["name"], entry["about"], artifacts("program"), artifacts("libraries"), mains, driver)


def artifacts(programs):
    """Every jar once, in the order of the file."""
    return list(dict.fromkeys(jar for program in programs for jar in program.program + program.libraries))


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def choose(programs, names):
    unknown = set(names) - {program.name for program in programs}
    if unknown:
        raise SystemExit(f"no such program: {', '.join(sorted(unknown))}")
    return [program for program in programs if not names or program.name in names]


def tool(name):
    """Another tool of this directory, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(BENCH / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module
