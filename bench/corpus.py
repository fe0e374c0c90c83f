"""What bench/corpus.toml says, for bench/fetch and bench/run. Touches no network and starts no program."""

import hashlib
import importlib.machinery
import importlib.util
import pathlib
import sys
import tomllib
from dataclasses import dataclass

BENCH = pathlib.Path(__file__).resolve().parent
CORPUS = BENCH / "corpus"
PINS = "[sha256]\n"


@dataclass(frozen=True)
class Artifact:
    group: str
    name: str
    version: str

    def __str__(self):
        return f"{self.group}:{self.name}:{self.version}"

    @property
    def path(self):
        return CORPUS / f"{self.name}-{self.version}.jar"


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


def load():
    """All programs, and the pinned checksum of each artifact by its coordinates."""
    table = tomllib.loads((BENCH / "corpus.toml").read_text())
    return [_program(entry) for entry in table["program"]], table.get("sha256", {})


def _program(entry):
    def artifacts(key):
        return [Artifact(*coordinates.split(":")) for coordinates in entry.get(key, [])]

    return Program(
        entry["name"], entry["about"], artifacts("program"), artifacts("libraries"), entry["mains"], entry.get("driver")
    )


def artifacts(programs):
    """Every jar once, in the order of the file."""
    return list(dict.fromkeys(jar for program in programs for jar in program.program + program.libraries))


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def choose(programs, names):
    unknown = set(names) - {program.name for program in programs}
    if unknown:
        raise SystemExit(f"no such program in corpus.toml: {', '.join(sorted(unknown))}")
    return [program for program in programs if not names or program.name in names]


def tool(name):
    """Another tool of this directory, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(BENCH / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module
