//! What folders tell, and what becomes of it: states, progress, and what is underlined.

use super::{Asked, Input, PROGRESS, Phase, Server};
use crate::analyst::Tell;
use crate::folder::{Folder, State};
use crate::settings::Guards;
use crate::told::Told;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Server {
    pub(super) fn folder_of(&self, path: &Path) -> Option<(u64, &Folder)> {
        let around = self.folders.iter().filter(|(_, folder)| folder.has(path));
        around.max_by_key(|(_, folder)| folder.root.components().count()).map(|(number, one)| (*number, one))
    }

    pub(super) fn add_folder(&mut self, root: PathBuf) {
        if self.folders.values().any(|folder| folder.root == root) {
            return;
        }
        self.last_folder += 1;
        let (number, inputs) = (self.last_folder, self.inputs.clone());
        let tell = Arc::new(move |tell| _ = inputs.send(Input::Folder(number, tell)));
        let folder = Folder::open(root, self.settings.clone(), self.launching.clone(), &self.documents, tell);
        self.folders.insert(number, folder);
        if self.is_initialized {
            self.begin_progress();
        }
        self.tell_state();
    }

    /// For folders of which nothing was shown yet. Clients take it only once they have said that they are ready.
    pub(super) fn begin_progress(&mut self) {
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

    pub(super) fn remove_folder(&mut self, root: &Path) {
        self.folders.retain(|_, folder| folder.root != root);
        let paths = self.shelf.clear(root);
        self.publish_all(&paths);
        self.tell_state();
    }

    pub(super) fn progress(&self, number: u64, value: Value) {
        if self.folders.get(&number).is_some_and(|folder| folder.shows_progress) {
            self.client
                .notify("$/progress", json!({"token": format!("{PROGRESS}/{number}"), "value": value}));
        }
    }

    pub(super) fn end_progress(&mut self, number: u64, message: &str) {
        self.progress(number, json!({"kind": "end", "message": message}));
        self.folders.get_mut(&number).into_iter().for_each(|folder| folder.shows_progress = false);
    }

    pub(super) fn told(&mut self, number: u64, tell: Tell) {
        if !self.folders.contains_key(&number) || self.phase != Phase::Open {
            return;
        }
        match tell {
            Tell::Progress(stage, done) => self.analysing(number, stage, done),
            Tell::Told(told) => self.results(number, told),
            Tell::Failed { message, reason } => self.failed(number, message, reason),
            Tell::Log(message) => self.client.log(&message),
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

    pub(super) fn analysing(&mut self, number: u64, stage: &'static str, done: u64) {
        let Some(folder) = self.folders.get_mut(&number) else { return };
        let state = State::Analysing(stage);
        let words = session::progress_text(stage, done);
        let is_new = folder.state != state;
        folder.state = state;
        self.progress(number, json!({"kind": "report", "message": words}));
        if is_new {
            self.tell_state();
        }
    }

    pub(super) fn results(&mut self, number: u64, told: Arc<Told>) {
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

    pub(super) fn refresh_guards(&mut self) {
        let method = match self.settings.guards {
            Guards::Lens if self.client.abilities.refreshes_lenses => "workspace/codeLens/refresh",
            Guards::Hint if self.client.abilities.refreshes_hints => "workspace/inlayHint/refresh",
            _ => return,
        };
        let number = self.client.ask(method, Value::Null);
        self.asked.insert(number, Asked::Nothing);
    }

    pub(super) fn failed(&mut self, number: u64, message: String, reason: &'static str) {
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
    pub(super) fn tell_state(&self) {
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

    pub(super) fn publish_all(&mut self, paths: &[PathBuf]) {
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

    pub(super) fn publish_if_any(&self, path: &Path) {
        if !self.client.abilities.pulls && !self.shelf.of(path).is_empty() {
            self.publish(path);
        }
    }

    pub(super) fn publish(&self, path: &Path) {
        let mut params = json!({"uri": self.documents.uri(path), "diagnostics": self.diagnostics(path)});
        if let Some(document) = self.documents.0.get(path) {
            params["version"] = json!(document.version);
        }
        self.client.notify("textDocument/publishDiagnostics", params);
    }
}
