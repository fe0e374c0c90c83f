//! A client for tests: speaks the protocol, and keeps what the server has told.

use fixture::jars;
use serde_json::{Value, json};
use server::{Ended, Launching};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// However busy the machine is.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Client {
    input: Option<PipeWriter>,
    messages: Receiver<Value>,
    server: Option<JoinHandle<Ended>>,
    last_id: u64,
    answers: BTreeMap<u64, Value>,
    /// By uri: the version, and what is underlined.
    pub published: BTreeMap<String, (Option<i64>, Vec<Value>)>,
    pub state: Value,
    /// Methods of notifications and requests of the server, in their order.
    pub heard: Vec<String>,
    log: Vec<String>,
    texts: BTreeMap<PathBuf, (i64, String)>,
}

pub fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Client {
    /// Has begun to talk, and has told of this folder.
    pub fn open(root: &Path) -> Client {
        let publishes = json!({"publishDiagnostics": {"relatedInformation": true}});
        let capabilities = json!({"experimental": {"snarl": true}, "textDocument": publishes});
        Client::with(&[root], capabilities, json!({}))
    }

    pub fn with(roots: &[&Path], capabilities: Value, settings: Value) -> Client {
        let mut client = Client::start();
        let folders: Vec<Value> = roots.iter().map(|root| json!({"uri": uri(root), "name": "x"})).collect();
        client.request(
            "initialize",
            json!({"processId": null, "workspaceFolders": folders, "capabilities": capabilities,
                   "initializationOptions": settings}),
        );
        client.notify("initialized", json!({}));
        client
    }

    /// Nothing has been said yet.
    pub fn start() -> Client {
        let (server_input, input) = std::io::pipe().expect("a pipe");
        let (output, server_output) = std::io::pipe().expect("a pipe");
        let launching = Launching { jars: vec![jars().to_path_buf()], cache: None };
        let server = thread::spawn(move || server::run(server_input, server_output, launching));
        let (to, messages) = channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if to.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            input: Some(input),
            messages,
            server: Some(server),
            last_id: 0,
            answers: BTreeMap::new(),
            published: BTreeMap::new(),
            state: Value::Null,
            heard: Vec::new(),
            log: Vec::new(),
            texts: BTreeMap::new(),
        }
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("not hung up");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    fn send(&mut self, message: Value) {
        let body = message.to_string();
        self.raw(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The answer, whatever it is.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.wait(|client| client.answers.contains_key(&id), method);
        self.answers.remove(&id).expect("an answer")
    }

    /// The result, if it is not refused.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The next message that is no answer to a request of ours.
    pub fn next(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("a message")
    }

    /// Takes messages until something holds.
    pub fn wait(&mut self, mut condition: impl FnMut(&Client) -> bool, what: &str) {
        let until = Instant::now() + PATIENCE;
        while !condition(self) {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left);
            let message = message.unwrap_or_else(|_| panic!("waiting for: {what}; {}", self.state));
            self.take(message);
        }
    }

    fn take(&mut self, message: Value) {
        let Some(method) = message.get("method").and_then(Value::as_str) else {
            if let Some(id) = message["id"].as_u64() {
                self.answers.insert(id, message);
            }
            return;
        };
        self.heard.push(method.to_owned());
        let params = &message["params"];
        match method {
            "textDocument/publishDiagnostics" => {
                let found = params["diagnostics"].as_array().cloned().unwrap_or_default();
                let uri = params["uri"].as_str().unwrap_or_default().to_owned();
                self.published.insert(uri, (params["version"].as_i64(), found));
            }
            "snarl/state" => self.state = params.clone(),
            "window/logMessage" => self.log.push(params["message"].as_str().unwrap_or_default().to_owned()),
            _ => {}
        }
        if let Some(id) = message.get("id") {
            let result = if method == "workspace/configuration" { json!([null]) } else { Value::Null };
            self.send(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        }
    }

    // ---- texts ----

    pub fn open_file(&mut self, path: &Path) {
        let text = std::fs::read_to_string(path).expect("a file");
        self.open_text(path, &text);
    }

    pub fn open_text(&mut self, path: &Path, text: &str) {
        self.texts.insert(path.to_path_buf(), (1, text.to_owned()));
        let document = json!({"uri": uri(path), "languageId": "java", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// The whole text is another one.
    pub fn put(&mut self, path: &Path, text: &str) {
        self.change(path, text, json!([{"text": text}]));
    }

    /// One character is deleted, or these are inserted.
    pub fn type_at(&mut self, path: &Path, offset: usize, deleted: usize, inserted: &str) {
        let old = self.texts[path].1.clone();
        let mut text = old.clone();
        text.replace_range(offset..offset + deleted, inserted);
        let point = |at: usize| {
            let start = old[..at].rfind('\n').map_or(0, |newline| newline + 1);
            json!({"line": old[..at].matches('\n').count(), "character": old[start..at].encode_utf16().count()})
        };
        let range = json!({"start": point(offset), "end": point(offset + deleted)});
        self.change(path, &text, json!([{"range": range, "text": inserted}]));
    }

    fn change(&mut self, path: &Path, text: &str, changes: Value) {
        let document = self.texts.get_mut(path).expect("an open file");
        *document = (document.0 + 1, text.to_owned());
        let document = json!({"uri": uri(path), "version": document.0});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    pub fn text(&self, path: &Path) -> &str {
        &self.texts[path].1
    }

    pub fn close_file(&mut self, path: &Path) {
        self.texts.remove(path);
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri(path)}}));
    }

    /// Everything is analysed, in the versions that were sent last.
    pub fn settle(&mut self) {
        self.wait(
            |client| {
                let is_told = |(path, (version, _)): (&PathBuf, &(i64, String))| {
                    client.state["versions"][uri(path)].as_i64() == Some(*version)
                };
                client.state["state"] == "ready" && client.texts.iter().all(is_told)
            },
            "everything is analysed",
        );
    }

    /// Rule and line, from 1, of what is underlined in a file.
    pub fn underlined(&self, path: &Path) -> Vec<(String, u64)> {
        let found = self.published.get(&uri(path)).map_or(&[][..], |(_, found)| found);
        let brief = |one: &Value| {
            let line = one["range"]["start"]["line"].as_u64().expect("a line") + 1;
            (one["code"].as_str().expect("a rule").to_owned(), line)
        };
        found.iter().map(brief).collect()
    }

    /// Whether the server has written this into its log.
    pub fn logged(&self, words: &str) -> bool {
        self.log.iter().any(|line| line.contains(words))
    }

    pub fn findings(&mut self) -> Vec<Value> {
        let all = self.request("workspace/executeCommand", json!({"command": "snarl.findings"}));
        all["findings"].as_array().cloned().expect("findings")
    }

    /// All code actions of a file, by title.
    pub fn actions(&mut self, path: &Path) -> BTreeMap<String, Value> {
        self.actions_within(path, 0, 9999)
    }

    /// Those for findings that are underlined in a line, which counts from 1.
    pub fn actions_at(&mut self, path: &Path, line: u32) -> BTreeMap<String, Value> {
        self.actions_within(path, line - 1, line - 1)
    }

    fn actions_within(&mut self, path: &Path, first: u32, last: u32) -> BTreeMap<String, Value> {
        let end = if first == last { 999 } else { 0 };
        let range =
            json!({"start": {"line": first, "character": 0}, "end": {"line": last, "character": end}});
        let params =
            json!({"textDocument": {"uri": uri(path)}, "range": range, "context": {"diagnostics": []}});
        let all = self.request("textDocument/codeAction", params);
        let all = all.as_array().cloned().expect("actions");
        all.into_iter().map(|one| (one["title"].as_str().expect("a title").to_owned(), one)).collect()
    }

    /// The text of a file after an action's edits.
    pub fn after(&self, path: &Path, action: &Value) -> String {
        let edits = action["edit"]["changes"][uri(path)].as_array().cloned().unwrap_or_default();
        let mut text = self.texts[path].1.clone();
        let offset = |at: &Value| {
            let line = at["line"].as_u64().expect("a line") as usize;
            let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
            start + at["character"].as_u64().expect("a column") as usize
        };
        let mut spans: Vec<(usize, usize, String)> = edits
            .iter()
            .map(|edit| {
                let new = edit["newText"].as_str().expect("a text").to_owned();
                (offset(&edit["range"]["start"]), offset(&edit["range"]["end"]), new)
            })
            .collect();
        spans.sort();
        for (start, end, new) in spans.into_iter().rev() {
            text.replace_range(start..end, &new);
        }
        text
    }

    // ---- the end ----

    pub fn shut_down(&mut self) -> Ended {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.ended()
    }

    pub fn hang_up(&mut self) -> Ended {
        self.input = None;
        self.ended()
    }

    fn ended(&mut self) -> Ended {
        self.server.take().expect("a server").join().expect("no panic")
    }
}

fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            _ if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
