"""A small client of the language server, for measuring and soaking: starts it, speaks the protocol, and keeps the
diagnostics of every file with the versions they are about."""

import json
import os
import pathlib
import queue
import subprocess
import threading
import time


class Client:
    def __init__(self, command, root, settings=None, log=None):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log or subprocess.DEVNULL
        )
        self.messages = queue.Queue()
        self.answers = {}
        self.last_id = 0
        self.versions = {}
        self.texts = {}
        # By uri: version, diagnostics, when they came.
        self.published = {}
        self.state = {}
        self.states = []
        # When findings came, and which.
        self.told = []
        threading.Thread(target=self._read, daemon=True).start()
        capabilities = {
            "window": {"workDoneProgress": True},
            "textDocument": {"publishDiagnostics": {"relatedInformation": True, "versionSupport": True}},
            "experimental": {"snarl": True},
        }
        self.began = time.perf_counter()
        self.capabilities = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": uri(root),
                "capabilities": capabilities,
                "initializationOptions": settings or {},
            },
        )
        self.notify("initialized", {})

    def _read(self):
        stream = self.process.stdout
        while True:
            length = None
            while True:
                line = stream.readline()
                if not line:
                    self.messages.put(None)
                    return
                line = line.strip()
                if not line:
                    break
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length":
                    length = int(value)
            body = stream.read(length)
            self.messages.put((time.perf_counter(), json.loads(body)))

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def request(self, method, params, timeout=300):
        self.last_id += 1
        number = self.last_id
        self._send({"id": number, "method": method, "params": params})
        self.wait(lambda: number in self.answers, timeout)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait(self, condition, timeout=300):
        """Takes messages until the condition holds; an error if it does not in time."""
        until = time.perf_counter() + timeout
        while not condition():
            left = until - time.perf_counter()
            if left <= 0:
                raise TimeoutError
            try:
                message = self.messages.get(timeout=left)
            except queue.Empty:
                raise TimeoutError from None
            if message is None:
                raise EOFError("the server has ended")
            self._take(*message)

    def drain(self):
        while not self.messages.empty():
            message = self.messages.get()
            if message is None:
                raise EOFError("the server has ended")
            self._take(*message)

    def _take(self, when, message):
        if "method" not in message:
            self.answers[message["id"]] = message
        elif "id" in message:
            result = [None] if message["method"] == "workspace/configuration" else None
            self._send({"id": message["id"], "result": result})
        elif message["method"] == "textDocument/publishDiagnostics":
            params = message["params"]
            self.published[params["uri"]] = (params.get("version"), params["diagnostics"], when)
        elif message["method"] == "snarl/findings":
            self.told.append((when, sorted(one["id"] for one in message["params"]["findings"])))
        elif message["method"] == "snarl/state":
            self.state = message["params"]
            self.states.append((when, message["params"]))

    def open(self, path, text=None):
        name = uri(path)
        text = pathlib.Path(path).read_text() if text is None else text
        self.versions[name], self.texts[name] = 1, text
        document = {"uri": name, "languageId": "java", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})

    def close(self, path):
        self.notify("textDocument/didClose", {"textDocument": {"uri": uri(path)}})

    def change(self, path, text):
        """Sends the difference as one change of a range, as editors do."""
        name = uri(path)
        old = self.texts[name]
        start = len(os.path.commonprefix([old, text]))
        end = len(os.path.commonprefix([old[start:][::-1], text[start:][::-1]]))
        self.versions[name] += 1
        self.texts[name] = text
        changed = {
            "range": {"start": position(old, start), "end": position(old, len(old) - end)},
            "text": text[start : len(text) - end],
        }
        self.notify(
            "textDocument/didChange",
            {"textDocument": {"uri": name, "version": self.versions[name]}, "contentChanges": [changed]},
        )
        return self.versions[name]

    def save(self, path):
        pathlib.Path(path).write_text(self.texts[uri(path)])
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri(path)}})

    def diagnostics(self, path):
        return self.published.get(uri(path), (None, [], 0))[1]

    def findings(self):
        return self.request("workspace/executeCommand", {"command": "snarl.findings"})["findings"]

    def is_ready(self):
        """Whether all has been analysed, in the versions that were sent last."""
        versions = self.state.get("versions", {})
        return self.state.get("state") == "ready" and all(
            versions.get(name) == version for name, version in self.versions.items()
        )

    def stop(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        return self.process.wait(timeout=30)

    def memory(self):
        """Megabytes in memory."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0


def uri(path):
    return pathlib.Path(path).resolve().as_uri()


def position(text, offset):
    line = text.count("\n", 0, offset)
    start = text.rfind("\n", 0, offset) + 1
    return {"line": line, "character": len(text[start:offset].encode("utf-16-le")) // 2}
