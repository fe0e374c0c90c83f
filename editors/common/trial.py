"""Owns the frame of an editor's test: the binary, a project in a temporary place, the editor's run with a limit, what
it leaves behind, and the count of what passed. Knows neither what an editor is asked to do, nor the protocol."""

import ctypes
import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 120  # seconds that one run of an editor may take
LOG_LINES = 400
PR_SET_CHILD_SUBREAPER = 36


class Trial:
    """The checks of one editor. Runs of the editor add to them; `end` prints the sum and gives the exit code."""

    def __init__(self, arguments):
        self.binary = binary(arguments)
        self.passed = 0
        self.failed = 0
        # What an editor leaves running becomes a child of this process, and can be seen.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def check(self, what, holds, detail=""):
        print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            for line in str(detail).splitlines():
                print(f"     {line}")

    def run(self, name, file, steps, command, configuration, tour=False, terminal=False):
        """Opens a project with one file, in the state of the first step, in an editor of its own. `configuration` are
        the files of its home directory with their text, and on a `tour` everything is tried that the server offers.
        The editor writes a line of JSON for each check to the file `results` of the plan, and may leave the messages
        of the protocol in the file `log`."""
        print(f"\n{name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="snarl-editor-") as place:
            place = pathlib.Path(place).resolve()
            home, project, tools = place / "home", place / "project", place / "bin"
            for directory in (home, project, tools):
                directory.mkdir()
            (tools / "snarl").symlink_to(self.binary)
            (project / file).write_text(steps[0]["text"])
            for path, source in configuration.items():
                (home / path).parent.mkdir(parents=True, exist_ok=True)
                (home / path).write_text(source)
            plan = {
                "file": str(project / file),
                "steps": steps,
                "tour": tour,
                "results": str(place / "results"),
                "log": str(place / "log"),
            }
            (place / "plan.json").write_text(json.dumps(plan))
            before = contents(project)
            failed = self.failed

            status, screen = edit(
                command + [plan["file"]], project, environment(home, tools, place / "plan.json"), terminal
            )
            self.results(place / "results")
            self.check(f"the editor ends by itself (in {LIMIT} seconds)", status == 0, f"{status}\n{screen}")
            left = leftovers()
            self.check("nothing runs on when the editor has ended", not left, "\n".join(left))
            changed = difference(before, contents(project))
            self.check("the project has no new and no changed files but .snarl", not changed, "\n".join(changed))
            if self.failed > failed:
                print_log(place / "log")

    def results(self, file):
        lines = file.read_text().splitlines() if file.exists() else []
        for line in lines:
            result = json.loads(line)
            if "heading" in result:
                print(f"  {result['heading']}")
            else:
                self.check(result["what"], result["ok"], result["detail"])
        self.check("the editor has said what it saw", bool(lines))

    def end(self):
        print(f"\n{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed else 0


def binary(arguments):
    """The first argument, or the newest one that was built."""
    if arguments:
        path = pathlib.Path(arguments[0])
    else:
        target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
        built = [path for kind in ("debug", "release") if (path := target / kind / "snarl").exists()]
        path = max(built, key=lambda path: path.stat().st_mtime, default=target / "debug" / "snarl")
    if not path.exists():
        sys.exit(f"{path} does not exist; `./dev snarl --version` builds one")
    return path.resolve()


def documented(name):
    """The code that docs/editors.md shows under a mark of this name."""
    text = (ROOT / "docs" / "editors.md").read_text()
    return re.search(rf"<!-- tested: {re.escape(name)} -->\n```\w+\n(.*?)```\n", text, re.DOTALL)[1]


def need(command, *packages):
    """Installs Debian packages if the command does not succeed."""
    if succeeds(command):
        return
    root = [] if os.geteuid() == 0 else ["sudo"]
    if not all(shutil.which(tool) for tool in [*root, "apt-get"]):
        sys.exit(f"please install: {' '.join(packages)}")
    print(f"installing {' '.join(packages)}", file=sys.stderr, flush=True)
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *packages]):
        run = subprocess.run(
            [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        # An old list of packages may do.
        if run.returncode != 0 and arguments[0] == "install":
            sys.exit(f"{run.stdout}\ninstalling {' '.join(packages)} failed")
    if not succeeds(command):
        sys.exit(f"{' '.join(command)} fails, although {' '.join(packages)} is installed")


def succeeds(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def environment(home, tools, plan):
    """A home without anybody's settings, and the binary under its own name."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "NVIM", "VIM", "EMACS"))}
    directories = {
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_CACHE_HOME": home / ".cache",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
    }
    return {
        **kept,
        **{key: str(value) for key, value in directories.items()},
        "HOME": str(home),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "SNARL_PLAN": str(plan),
        "TERM": "linux",
        "LC_ALL": "C.UTF-8",
    }


def edit(command, project, environment, terminal):
    """How the editor ended, and the last it has written to its terminal."""
    ours, its = pty.openpty() if terminal else os.pipe()
    options = {"preexec_fn": lambda: own_terminal(its)} if terminal else {}
    editor = subprocess.Popen(
        command,
        cwd=project,
        env=environment,
        stdin=its if terminal else subprocess.DEVNULL,
        stdout=its,
        stderr=its,
        **options,
    )
    os.close(its)
    screen = bytearray()
    reader = threading.Thread(target=drain, args=(ours, screen), daemon=True)
    reader.start()
    try:
        status = editor.wait(LIMIT)
    except subprocess.TimeoutExpired:
        editor.kill()
        editor.wait()
        status = "it had to be killed"
    # A process that is left over may keep the other end open.
    reader.join(1)
    return status, screen[-4000:].decode(errors="replace")


def own_terminal(terminal):
    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def drain(source, screen):
    try:
        while part := os.read(source, 65536):
            screen += part
    except OSError:
        pass  # a terminal whose other end is closed


def leftovers(limit=5):
    """The processes that are still there after some seconds; they are ended then."""
    until = time.monotonic() + limit
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.02)
        except ChildProcessError:
            return []
    left = children()
    for process, _ in left:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    return [command for _, command in left]


def children():
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        try:
            if f"PPid:\t{os.getpid()}\n" in status.read_text():
                command = (status.parent / "cmdline").read_text().replace("\0", " ")
                found.append((int(status.parent.name), command))
        except OSError:
            pass  # it has ended
    return found


def contents(project):
    return {
        str(path.relative_to(project)): path.read_bytes() if path.is_file() else None
        for path in sorted(project.rglob("*"))
        if path.relative_to(project).parts[0] != ".snarl"
    }


def difference(before, after):
    return [path for path in sorted({*before, *after}) if before.get(path, "") != after.get(path, "")]


def print_log(file):
    print("\nthe last messages between editor and server:")
    lines = file.read_text(errors="replace").splitlines() if file.exists() else ["there is no log"]
    for line in lines[-LOG_LINES:]:
        print(f"  {line[:2000]}")
