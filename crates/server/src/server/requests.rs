//! What clients ask: each request is answered here, or by a folder that is asked in turn.

use super::{Asked, COMMANDS, Phase, Server, point, position};
use crate::client::{self, Abilities};
use crate::questions::{Question, What};
use crate::settings::{Guards, Settings};
use crate::told::Range;
use crate::uri;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

impl Server {
    pub(super) fn request(&mut self, method: &str, id: Value, params: &Value) {
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

    pub(super) fn initialize(&mut self, id: Value, params: &Value) {
        self.phase = Phase::Open;
        self.client.abilities = Abilities::of(params.get("capabilities").unwrap_or(&Value::Null));
        let options = params.get("initializationOptions").unwrap_or(&Value::Null);
        self.options = options.get("snarl").unwrap_or(options).clone();
        self.settings = Settings::of(&self.options);
        self.complaints = Settings::complaints(&self.options);
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

    pub(super) fn document_diagnostic(&mut self, id: Value, params: &Value) {
        let Some(path) = self.document(params) else {
            return self.client.answer(id, json!({"kind": "full", "items": []}));
        };
        let edition = self.shelf.edition(&path);
        let known = params.get("previousResultId").and_then(Value::as_str);
        let report = self.diagnostic_report(&path, &edition, known);
        self.client.answer(id, report);
    }

    pub(super) fn workspace_diagnostic(&mut self, id: Value, params: &Value) {
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

    pub(super) fn diagnostic_report(&self, path: &Path, edition: &str, known: Option<&str>) -> Value {
        if known == Some(edition) {
            return json!({"kind": "unchanged", "resultId": edition});
        }
        json!({"kind": "full", "resultId": edition, "items": self.diagnostics(path)})
    }

    pub(super) fn diagnostics(&self, path: &Path) -> Vec<Value> {
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

    pub(super) fn command(&mut self, id: Value, params: &Value) {
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
                let delta = self
                    .folders
                    .values()
                    .filter_map(|folder| folder.told.as_ref()?.delta.clone())
                    .next_back();
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
                let path = path.map(|path| self.aliases.get(&path).cloned().unwrap_or(path));
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

    pub(super) fn findings(&self) -> Value {
        let told = self.folders.values().filter_map(|folder| folder.told.as_ref());
        let all: Vec<&Value> = told.flat_map(|told| &told.findings).map(|finding| &**finding).collect();
        json!({"schema": 1, "findings": all})
    }

    pub(super) fn show_findings(&self, all: &Value) {
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
    pub(super) fn ask(&mut self, id: Value, params: &Value, what: Option<What>, nothing: Value) {
        match (self.document(params), what) {
            (Some(path), Some(what)) => self.ask_about(id, path, Some(what), nothing),
            (None, _) => self.client.answer(id, nothing),
            (_, None) => self.client.refuse(id, client::INVALID_PARAMS, "wants a position or a range"),
        }
    }

    pub(super) fn ask_if(&mut self, id: Value, params: &Value, what: Option<What>) {
        match self.document(params) {
            Some(path) => self.ask_about(id, path, what, json!([])),
            None => self.client.answer(id, json!([])),
        }
    }

    pub(super) fn ask_about(&mut self, id: Value, path: PathBuf, what: Option<What>, nothing: Value) {
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
    pub(super) fn answered(&mut self, id: Value, answer: Result<Value, String>) {
        let answer = answer.map(|answer| self.in_its_names(answer));
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
}

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

fn range(value: Option<&Value>) -> Option<Range> {
    let value = value?;
    Some(Range { start: point(value.get("start")?)?, end: point(value.get("end")?)? })
}
