//! The conversation: every message of the client and every result of an analysis comes here, one after the other. Decides
//! who is told what; works nothing out itself.

use crate::Ended;
use crate::analyst::Tell;
use crate::client::{self, Abilities, Client};
use crate::desk::Event;
use crate::document::{Document, Documents};
use crate::folder::{Folder, State};
use crate::launching::Launching;
use crate::questions::{Question, What};
use crate::settings::{Guards, Settings};
use crate::shelf::Shelf;
use crate::told::{Range, Told};
use crate::transport::Incoming;
use crate::uri;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

pub enum Input {
    Client(Incoming),
    /// From the folder with this number.
    Folder(u64, Tell),
}

pub struct Server {
    client: Client,
    inputs: Sender<Input>,
    launching: Launching,
    settings: Settings,
    /// What the client said of settings when it began; what it says later is laid over it.
    options: Value,
    documents: Documents,
    folders: BTreeMap<u64, Folder>,
    last_folder: u64,
    shelf: Shelf,
    /// What we have asked the client.
    asked: BTreeMap<u64, Asked>,
    /// Requests that a folder will answer.
    open_requests: Vec<(Value, u64)>,
    phase: Phase,
    /// The client has said that it is ready to be asked.
    is_initialized: bool,
}

/// What the client's answer is for.
enum Asked {
    Configuration,
    Nothing,
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Phase {
    Before,
    Open,
    Shutdown,
}

/// The client has gone.
struct Gone(Ended);

const COMMANDS: [&str; 4] = ["snarl.findings", "snarl.delta", "snarl.analyse", "snarl.otherSide"];
const PROGRESS: &str = "snarl/analysis";

impl Server {
    pub fn new(messages: Sender<Value>, inputs: Sender<Input>, launching: Launching) -> Server {
        Server {
            client: Client::new(messages),
            inputs,
            launching,
            settings: Settings::default(),
            options: Value::Null,
            documents: Documents::default(),
            folders: BTreeMap::new(),
            last_folder: 0,
            shelf: Shelf::default(),
            asked: BTreeMap::new(),
            open_requests: Vec::new(),
            phase: Phase::Before,
            is_initialized: false,
        }
    }

    pub fn run(mut self, inputs: &Receiver<Input>) -> Ended {
        for input in inputs {
            match input {
                Input::Client(Incoming::Message(message)) => {
                    if let Err(Gone(ended)) = self.message(message) {
                        return ended;
                    }
                }
                Input::Client(Incoming::Malformed(why)) => {
                    self.client.refuse(Value::Null, client::PARSE_ERROR, &why);
                }
                Input::Client(Incoming::End) => return Ended::Abruptly,
                Input::Folder(number, tell) => self.told(number, tell),
            }
        }
        Ended::Abruptly
    }

    fn message(&mut self, message: Value) -> Result<(), Gone> {
        let params = message.get("params").cloned().unwrap_or(Value::Null);
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => self.request(method, id.clone(), &params),
            (Some(method), None) => self.notification(method, &params)?,
            (None, Some(id)) => self.response(id, &message),
            (None, None) => {
                self.client.refuse(Value::Null, client::INVALID_REQUEST, "neither a request nor an answer");
            }
        }
        Ok(())
    }

    // ---- requests ----

    fn request(&mut self, method: &str, id: Value, params: &Value) {
        match (self.phase, method) {
            (Phase::Before, "initialize") => self.initialize(id, params),
            (Phase::Before, _) => self.client.refuse(id, client::NOT_INITIALIZED, "not initialized yet"),
            (Phase::Shutdown, _) => self.client.refuse(id, client::INVALID_REQUEST, "shut down already"),
            (_, "initialize") => self.client.refuse(id, client::INVALID_REQUEST, "initialized already"),
            (_, "shutdown") => {
                self.phase = Phase::Shutdown;
                self.folders.clear();
                self.client.answer(id, Value::Null);
            }
            (_, "textDocument/diagnostic") => self.document_diagnostic(id, params),
            (_, "workspace/diagnostic") => self.workspace_diagnostic(id, params),
            (_, "workspace/executeCommand") => self.command(id, params),
            (_, "textDocument/hover") => {
                let what = position(params).map(|(line, character)| What::Hover(line, character));
                self.ask(id, params, what, Value::Null);
            }
            (_, "snarl/otherSide") => {
                let what = position(params).map(|(line, character)| What::OtherSide(line, character));
                self.ask(id, params, what, json!([]));
            }
            (_, "textDocument/codeAction") => {
                // Where nothing can be shown, nobody is to be sent there.
                let shows = self.client.abilities.shows_documents || self.client.abilities.snarl;
                let what = range(params.get("range")).map(|range| What::Actions(range, shows));
                self.ask(id, params, what, json!([]));
            }
            (_, "textDocument/codeLens") => {
                let what = (self.settings.guards == Guards::Lens).then_some(What::Lenses);
                self.ask_if(id, params, what);
            }
            (_, "textDocument/inlayHint") => {
                let what = (self.settings.guards == Guards::Hint).then_some(What::Hints);
                self.ask_if(id, params, what);
            }
            _ => self.client.refuse(id, client::METHOD_NOT_FOUND, &format!("no such method: {method}")),
        }
    }

    fn initialize(&mut self, id: Value, params: &Value) {
        self.phase = Phase::Open;
        self.client.abilities = Abilities::of(params.get("capabilities").unwrap_or(&Value::Null));
        let options = params.get("initializationOptions").unwrap_or(&Value::Null);
        self.options = options.get("snarl").unwrap_or(options).clone();
        self.settings = Settings::of(&self.options);
        let roots = roots(params);
        let mut capabilities = json!({
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
            "hoverProvider": true,
            "codeActionProvider": {"codeActionKinds": ["quickfix"]},
            "codeLensProvider": {},
            "inlayHintProvider": true,
            "executeCommandProvider": {"commands": COMMANDS},
            "workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
            "experimental": {"snarl": true},
        });
        if self.client.abilities.pulls {
            capabilities["diagnosticProvider"] =
                json!({"identifier": "snarl", "interFileDependencies": true, "workspaceDiagnostics": true});
        }
        let info = json!({"name": "snarl", "version": env!("CARGO_PKG_VERSION")});
        self.client.answer(id, json!({"capabilities": capabilities, "serverInfo": info}));
        roots.into_iter().for_each(|root| self.add_folder(root));
    }

    fn document_diagnostic(&mut self, id: Value, params: &Value) {
        let Some(path) = document_path(params) else {
            return self.client.answer(id, json!({"kind": "full", "items": []}));
        };
        let edition = self.shelf.edition(&path);
        let known = params.get("previousResultId").and_then(Value::as_str);
        let report = self.diagnostic_report(&path, &edition, known);
        self.client.answer(id, report);
    }

    fn workspace_diagnostic(&mut self, id: Value, params: &Value) {
        let known = params.get("previousResultIds").and_then(Value::as_array).into_iter().flatten();
        let known: BTreeMap<PathBuf, &str> = known
            .filter_map(|one| Some((uri::to_path(one.get("uri")?.as_str()?)?, one.get("value")?.as_str()?)))
            .collect();
        let mut paths = self.shelf.paths();
        paths.extend(known.keys().cloned());
        paths.sort();
        paths.dedup();
        let items: Vec<Value> = paths
            .iter()
            .map(|path| {
                let edition = self.shelf.edition(path);
                let mut report = self.diagnostic_report(path, &edition, known.get(path).copied());
                report["uri"] = json!(self.documents.uri(path));
                report["version"] = json!(self.documents.0.get(path).map(|document| document.version));
                report
            })
            .collect();
        self.client.answer(id, json!({"items": items}));
    }

    fn diagnostic_report(&self, path: &Path, edition: &str, known: Option<&str>) -> Value {
        if known == Some(edition) {
            return json!({"kind": "unchanged", "resultId": edition});
        }
        json!({"kind": "full", "resultId": edition, "items": self.diagnostics(path)})
    }

    fn diagnostics(&self, path: &Path) -> Vec<Value> {
        let uri = |path: &Path| self.documents.uri(path);
        let mut all: Vec<Value> = self.shelf.of(path).iter().map(|one| one.json(&uri)).collect();
        if !self.client.abilities.related {
            for one in &mut all {
                if let Some(one) = one.as_object_mut() {
                    one.remove("relatedInformation");
                }
            }
        }
        all
    }

    fn command(&mut self, id: Value, params: &Value) {
        let arguments = params.get("arguments").and_then(Value::as_array).cloned().unwrap_or_default();
        match params.get("command").and_then(Value::as_str) {
            Some("snarl.findings") => {
                let all = self.findings();
                if !self.client.abilities.snarl {
                    self.show_findings(&all);
                }
                self.client.answer(id, all);
            }
            Some("snarl.delta") => {
                let delta =
                    self.folders.values().filter_map(|folder| folder.told.as_ref()?.delta.clone()).last();
                let text = delta.as_ref().and_then(|delta| delta.get("text")?.as_str().map(str::to_owned));
                if !self.client.abilities.snarl {
                    self.client.show(3, text.as_deref().unwrap_or("no edit has changed any finding yet"));
                }
                let nothing = json!({"schema": 1, "text": "nothing introduced, nothing fixed",
                                     "milliseconds": 0, "introduced": [], "fixed": []});
                self.client.answer(id, delta.unwrap_or(nothing));
            }
            Some("snarl.analyse") => {
                self.folders.values().for_each(|folder| folder.desk.anew());
                self.client.answer(id, Value::Null);
            }
            Some("snarl.otherSide") => {
                let number = |at: usize| u32::try_from(arguments.get(at)?.as_u64()?).ok();
                let path = arguments.first().and_then(Value::as_str).and_then(uri::to_path);
                match (path, number(1), number(2)) {
                    (Some(path), Some(line), Some(character)) => {
                        let what = What::OtherSide(line, character);
                        self.ask_about(json!({"otherSide": id}), path, Some(what), json!([]));
                    }
                    _ => self.client.refuse(id, client::INVALID_PARAMS, "wants: uri, line, character"),
                }
            }
            other => {
                let message = format!("no such command: {}", other.unwrap_or_default());
                self.client.refuse(id, client::INVALID_PARAMS, &message);
            }
        }
    }

    fn findings(&self) -> Value {
        let told = self.folders.values().filter_map(|folder| folder.told.as_ref());
        let all: Vec<&Value> = told.flat_map(|told| &told.findings).map(|finding| &**finding).collect();
        json!({"schema": 1, "findings": all})
    }

    fn show_findings(&self, all: &Value) {
        let all = all.get("findings").and_then(Value::as_array).cloned().unwrap_or_default();
        let line = |finding: &Value| {
            let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            format!("{}: {}", text("rule"), text("message"))
        };
        let lines: Vec<String> = all.iter().take(20).map(line).collect();
        let words = match all.len() {
            0 => "no findings".to_owned(),
            1 => format!("1 finding\n{}", lines.join("\n")),
            count => format!("{count} findings\n{}", lines.join("\n")),
        };
        self.client.show(3, &words);
    }

    /// Has a folder answer; `nothing` is the answer where there is none.
    fn ask(&mut self, id: Value, params: &Value, what: Option<What>, nothing: Value) {
        match (document_path(params), what) {
            (Some(path), Some(what)) => self.ask_about(id, path, Some(what), nothing),
            (None, _) => self.client.answer(id, nothing),
            (_, None) => self.client.refuse(id, client::INVALID_PARAMS, "wants a position or a range"),
        }
    }

    fn ask_if(&mut self, id: Value, params: &Value, what: Option<What>) {
        match document_path(params) {
            Some(path) => self.ask_about(id, path, what, json!([])),
            None => self.client.answer(id, json!([])),
        }
    }

    fn ask_about(&mut self, id: Value, path: PathBuf, what: Option<What>, nothing: Value) {
        let folder = self.folder_of(&path).filter(|(_, folder)| folder.told.is_some());
        match (folder, what) {
            (Some((number, folder)), Some(what)) => {
                folder.desk.ask(Question { id: id.clone(), path, what });
                self.open_requests.push((id, number));
            }
            _ => self.answered(id, Ok(nothing)),
        }
    }

    /// An answer from a folder, or one that takes no folder.
    fn answered(&mut self, id: Value, answer: Result<Value, String>) {
        let Some(command) = id.get("otherSide").cloned() else {
            return match answer {
                Ok(answer) => self.client.answer(id, answer),
                Err(why) => self.client.refuse(id, client::INTERNAL_ERROR, &why),
            };
        };
        let places = answer.unwrap_or_default();
        let first = places.as_array().and_then(|places| places.first()).cloned().unwrap_or_default();
        if self.client.abilities.shows_documents && !first.is_null() {
            let params = json!({"uri": first["uri"], "takeFocus": true, "selection": first["range"]});
            let number = self.client.ask("window/showDocument", params);
            self.asked.insert(number, Asked::Nothing);
        }
        self.client.answer(command, first);
    }

    // ---- notifications ----

    fn notification(&mut self, method: &str, params: &Value) -> Result<(), Gone> {
        if method == "exit" {
            let is_proper = self.phase == Phase::Shutdown;
            return Err(Gone(if is_proper { Ended::Properly } else { Ended::Abruptly }));
        }
        if self.phase != Phase::Open {
            return Ok(());
        }
        match method {
            "initialized" => {
                self.is_initialized = true;
                self.ask_configuration();
                self.begin_progress();
            }
            "textDocument/didOpen" => self.did_open(params),
            "textDocument/didChange" => self.did_change(params),
            "textDocument/didSave" => self.did_save(params),
            "textDocument/didClose" => self.did_close(params),
            "workspace/didChangeConfiguration" => {
                let told = params.get("settings").and_then(|settings| settings.get("snarl"));
                match told.filter(|section| section.is_object()) {
                    Some(section) => self.set(section),
                    None => self.ask_configuration(),
                }
            }
            "workspace/didChangeWorkspaceFolders" => {
                let list = |name: &str| {
                    let folders = params.pointer(&format!("/event/{name}")).and_then(Value::as_array);
                    let folders = folders.into_iter().flatten();
                    folders.filter_map(|one| uri::to_path(one.get("uri")?.as_str()?)).collect::<Vec<_>>()
                };
                list("removed").into_iter().for_each(|root| self.remove_folder(&root));
                list("added").into_iter().for_each(|root| self.add_folder(root));
            }
            "$/cancelRequest" => self.cancel(params.get("id").unwrap_or(&Value::Null)),
            // What is not known and not ours to know is passed over, as the protocol says.
            _ => {}
        }
        Ok(())
    }

    fn did_open(&mut self, params: &Value) {
        let Some(path) = document_path(params) else { return };
        let document = &params["textDocument"];
        let text: Arc<str> = document.get("text").and_then(Value::as_str).unwrap_or_default().into();
        let uri = document.get("uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let version = version(document).unwrap_or(0);
        self.documents
            .0
            .insert(path.clone(), Document { uri, version, text: text.clone(), saved: text.clone() });
        if self.folders.is_empty() && is_java(&path) {
            // A file alone: what is around it is its project.
            self.add_folder(project::root_of(&path));
        } else if is_java(&path) {
            self.put(&path, Event::Text { path: path.clone(), version, text });
        }
        self.publish_if_any(&path);
    }

    fn did_change(&mut self, params: &Value) {
        let Some(path) = document_path(params) else { return };
        let changes = params.get("contentChanges").and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(document) = self.documents.0.get_mut(&path) else { return };
        let before = document.text.clone();
        let version = version(&params["textDocument"]).unwrap_or(document.version + 1);
        document.change(version, &changes);
        let text = document.text.clone();
        if self.shelf.edit(&path, &before, &text) && !self.client.abilities.pulls {
            self.publish(&path);
        }
        if self.settings.on_type && is_java(&path) {
            self.put(&path, Event::Text { path: path.clone(), version, text });
        }
    }

    fn did_save(&mut self, params: &Value) {
        let Some(path) = document_path(params) else { return };
        let Some(document) = self.documents.0.get_mut(&path) else { return };
        document.saved = document.text.clone();
        let (version, text) = (document.version, document.text.clone());
        if !self.settings.on_type && is_java(&path) {
            self.put(&path, Event::Text { path: path.clone(), version, text });
        }
    }

    fn did_close(&mut self, params: &Value) {
        let Some(path) = document_path(params) else { return };
        if self.documents.0.remove(&path).is_some() && is_java(&path) {
            self.put(&path, Event::Closed(path.clone()));
        }
    }

    fn put(&self, path: &Path, event: Event) {
        if let Some((_, folder)) = self.folder_of(path) {
            folder.desk.put(event);
        }
    }

    fn cancel(&mut self, id: &Value) {
        let Some(at) = self.open_requests.iter().position(|(open, _)| open == id) else { return };
        let (_, number) = self.open_requests[at];
        // What is being answered will be answered.
        if self.folders.get(&number).is_some_and(|folder| folder.desk.take_back(id)) {
            self.open_requests.remove(at);
            self.client.refuse(id.clone(), client::REQUEST_CANCELLED, "cancelled");
        }
    }

    fn ask_configuration(&mut self) {
        if self.client.abilities.configuration {
            let params = json!({"items": [{"section": "snarl"}]});
            let number = self.client.ask("workspace/configuration", params);
            self.asked.insert(number, Asked::Configuration);
        }
    }

    fn response(&mut self, id: &Value, message: &Value) {
        let Some(asked) = id.as_u64().and_then(|number| self.asked.remove(&number)) else { return };
        match asked {
            Asked::Configuration => {
                let section = message.pointer("/result/0").filter(|section| section.is_object());
                section.into_iter().for_each(|section| self.set(section));
            }
            Asked::Nothing => {}
        }
    }

    fn set(&mut self, section: &Value) {
        let mut all = self.options.clone();
        if !all.is_object() {
            all = json!({});
        }
        for (key, value) in section.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            all[key] = value.clone();
        }
        let settings = Settings::of(&all);
        if settings == self.settings {
            return;
        }
        self.settings = settings;
        self.folders.values().for_each(|folder| folder.desk.set(self.settings.clone()));
    }

    // ---- folders ----

    fn folder_of(&self, path: &Path) -> Option<(u64, &Folder)> {
        let around = self.folders.iter().filter(|(_, folder)| folder.has(path));
        around.max_by_key(|(_, folder)| folder.root.components().count()).map(|(number, one)| (*number, one))
    }

    fn add_folder(&mut self, root: PathBuf) {
        if self.folders.values().any(|folder| folder.root == root) {
            return;
        }
        self.last_folder += 1;
        let (number, inputs) = (self.last_folder, self.inputs.clone());
        let tell = Box::new(move |tell| _ = inputs.send(Input::Folder(number, tell)));
        let folder = Folder::open(root, self.settings.clone(), self.launching.clone(), &self.documents, tell);
        self.folders.insert(number, folder);
        if self.is_initialized {
            self.begin_progress();
        }
        self.tell_state();
    }

    /// For folders of which nothing was shown yet. Clients take it only once they have said that they are ready.
    fn begin_progress(&mut self) {
        if !self.client.abilities.progress {
            return;
        }
        let busy =
            self.folders.iter_mut().filter(|(_, one)| one.state != State::Ready && !one.shows_progress);
        let numbers: Vec<u64> = busy
            .map(|(number, folder)| {
                folder.shows_progress = true;
                *number
            })
            .collect();
        for number in numbers {
            let token = json!({"token": format!("{PROGRESS}/{number}")});
            let asked = self.client.ask("window/workDoneProgress/create", token);
            self.asked.insert(asked, Asked::Nothing);
            let begin = json!({"kind": "begin", "title": "Snarl", "message": "opening the project"});
            self.progress(number, begin);
        }
    }

    fn remove_folder(&mut self, root: &Path) {
        self.folders.retain(|_, folder| folder.root != root);
        let paths = self.shelf.clear(root);
        self.publish_all(&paths);
        self.tell_state();
    }

    fn progress(&self, number: u64, value: Value) {
        if self.folders.get(&number).is_some_and(|folder| folder.shows_progress) {
            self.client
                .notify("$/progress", json!({"token": format!("{PROGRESS}/{number}"), "value": value}));
        }
    }

    fn end_progress(&mut self, number: u64, message: &str) {
        self.progress(number, json!({"kind": "end", "message": message}));
        self.folders.get_mut(&number).into_iter().for_each(|folder| folder.shows_progress = false);
    }

    fn told(&mut self, number: u64, tell: Tell) {
        if !self.folders.contains_key(&number) || self.phase != Phase::Open {
            return;
        }
        match tell {
            Tell::Progress(stage, done) => self.analysing(number, stage, done),
            Tell::Told(told) => self.results(number, told),
            Tell::Failed { message, reason } => self.failed(number, message, reason),
            Tell::Note(message) => {
                self.client.log(&message);
                if let Some(folder) = self.folders.get_mut(&number)
                    && folder.complaint.as_deref() != Some(&message)
                {
                    self.client.show(2, &message);
                    folder.complaint = Some(message);
                }
            }
            Tell::Answer(id, answer) => {
                self.open_requests.retain(|(open, _)| *open != id);
                self.answered(id, answer);
            }
        }
    }

    fn analysing(&mut self, number: u64, stage: &'static str, done: u64) {
        let Some(folder) = self.folders.get_mut(&number) else { return };
        let state = State::Analysing(stage);
        let words = if done > 0 { format!("{stage}: {done}") } else { stage.to_owned() };
        let is_new = folder.state != state;
        folder.state = state;
        self.progress(number, json!({"kind": "report", "message": words}));
        if is_new {
            self.tell_state();
        }
    }

    fn results(&mut self, number: u64, told: Arc<Told>) {
        let Some(folder) = self.folders.get_mut(&number) else { return };
        let before = folder.told.replace(told.clone());
        let was_ready = folder.state == State::Ready;
        if told.is_whole {
            folder.state = State::Ready;
        }
        let paths = self.shelf.take(&told, before.as_ref(), &self.documents);
        self.publish_all(&paths);
        if told.is_whole && !was_ready {
            self.end_progress(number, "ready");
        }
        self.tell_state();
        if self.client.abilities.snarl {
            let is_same = before.is_some_and(|before| {
                before.findings.len() == told.findings.len()
                    && before.findings.iter().zip(&told.findings).all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
            });
            if !is_same {
                self.client.notify("snarl/findings", self.findings());
            }
        }
        self.refresh_guards();
    }

    fn refresh_guards(&mut self) {
        let method = match self.settings.guards {
            Guards::Lens if self.client.abilities.refreshes_lenses => "workspace/codeLens/refresh",
            Guards::Hint if self.client.abilities.refreshes_hints => "workspace/inlayHint/refresh",
            _ => return,
        };
        let number = self.client.ask(method, Value::Null);
        self.asked.insert(number, Asked::Nothing);
    }

    fn failed(&mut self, number: u64, message: String, reason: &'static str) {
        let Some(folder) = self.folders.get_mut(&number) else { return };
        let is_new = folder.complaint.as_ref() != Some(&message);
        folder.complaint = Some(message.clone());
        folder.state = State::Failed { message: message.clone(), reason };
        self.end_progress(number, "not analysed");
        if is_new {
            self.client.log(&message);
            // Clients that show states need no message beside.
            if !self.client.abilities.snarl {
                self.client.show(2, &message);
            }
        }
        self.tell_state();
    }

    /// Tells clients that understand it what all folders are at: the worst of them counts.
    fn tell_state(&self) {
        if !self.client.abilities.snarl {
            return;
        }
        let findings: usize = self
            .folders
            .values()
            .filter_map(|folder| folder.told.as_ref())
            .map(|told| told.findings.len())
            .sum();
        let failed = self.folders.values().find_map(|folder| match &folder.state {
            State::Failed { message, reason } => Some((message.clone(), *reason)),
            _ => None,
        });
        let busy = self.folders.values().find_map(|folder| match folder.state {
            State::Starting => Some(("starting", "opening the project")),
            State::Analysing(stage) => Some(("analysing", stage)),
            _ => None,
        });
        let mut state = match (failed, busy) {
            (Some((message, reason)), _) => json!({"state": "failed", "message": message, "reason": reason}),
            (None, Some((state, stage))) => json!({"state": state, "message": stage}),
            (None, None) => json!({"state": "ready", "message": ""}),
        };
        state["findings"] = json!(findings);
        if let Some(told) = self.folders.values().filter_map(|folder| folder.told.as_ref()).next_back() {
            state["milliseconds"] = json!(told.milliseconds);
            state["stages"] = json!(told.stages);
        }
        let told = self.folders.values().filter_map(|folder| folder.told.as_ref());
        let versions = told.flat_map(|told| &told.texts);
        let versions: BTreeMap<String, i32> =
            versions.map(|(path, (version, _))| (self.documents.uri(path), *version)).collect();
        state["versions"] = json!(versions);
        self.client.notify("snarl/state", state);
    }

    // ---- what is underlined ----

    fn publish_all(&mut self, paths: &[PathBuf]) {
        if paths.is_empty() {
            return;
        }
        if self.client.abilities.pulls {
            let number = self.client.ask("workspace/diagnostic/refresh", Value::Null);
            self.asked.insert(number, Asked::Nothing);
        } else {
            paths.iter().for_each(|path| self.publish(path));
        }
    }

    fn publish_if_any(&self, path: &Path) {
        if !self.client.abilities.pulls && !self.shelf.of(path).is_empty() {
            self.publish(path);
        }
    }

    fn publish(&self, path: &Path) {
        let mut params = json!({"uri": self.documents.uri(path), "diagnostics": self.diagnostics(path)});
        if let Some(document) = self.documents.0.get(path) {
            params["version"] = json!(document.version);
        }
        self.client.notify("textDocument/publishDiagnostics", params);
    }
}

/// The folders that the client has open.
fn roots(params: &Value) -> Vec<PathBuf> {
    let folders = params.get("workspaceFolders").and_then(Value::as_array).into_iter().flatten();
    let roots: Vec<PathBuf> =
        folders.filter_map(|folder| uri::to_path(folder.get("uri")?.as_str()?)).collect();
    if !roots.is_empty() {
        return roots;
    }
    let uri = params.get("rootUri").and_then(Value::as_str).and_then(uri::to_path);
    uri.or_else(|| params.get("rootPath").and_then(Value::as_str).map(PathBuf::from)).into_iter().collect()
}

fn document_path(params: &Value) -> Option<PathBuf> {
    uri::to_path(params.pointer("/textDocument/uri")?.as_str()?)
}

fn version(document: &Value) -> Option<i32> {
    i32::try_from(document.get("version")?.as_i64()?).ok()
}

fn is_java(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "java")
}

fn position(params: &Value) -> Option<(u32, u32)> {
    point(params.get("position")?)
}

fn point(at: &Value) -> Option<(u32, u32)> {
    let part = |name: &str| u32::try_from(at.get(name)?.as_u64()?).ok();
    Some((part("line")?, part("character")?))
}

fn range(value: Option<&Value>) -> Option<Range> {
    let value = value?;
    Some(Range { start: point(value.get("start")?)?, end: point(value.get("end")?)? })
}
