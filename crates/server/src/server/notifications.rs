//! What clients tell: texts, settings, folders, and that they are gone.

use super::names::document_path;
use super::{Asked, Gone, Phase, Server};
use crate::Ended;
use crate::client;
use crate::desk::Event;
use crate::document::Document;
use crate::settings::Settings;
use crate::uri;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

impl Server {
    pub(super) fn notification(&mut self, method: &str, params: &Value) -> Result<(), Gone> {
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
                self.complaints.iter().for_each(|complaint| self.client.show(2, complaint));
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

    pub(super) fn did_open(&mut self, params: &Value) {
        let Some(told) = document_path(params) else { return };
        let path = self.located(told);
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

    pub(super) fn did_change(&mut self, params: &Value) {
        let Some(path) = self.document(params) else { return };
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

    pub(super) fn did_save(&mut self, params: &Value) {
        let Some(path) = self.document(params) else { return };
        let Some(document) = self.documents.0.get_mut(&path) else { return };
        document.saved = document.text.clone();
        let (version, text) = (document.version, document.text.clone());
        if !self.settings.on_type && is_java(&path) {
            self.put(&path, Event::Text { path: path.clone(), version, text });
        }
    }

    pub(super) fn did_close(&mut self, params: &Value) {
        let Some(path) = self.document(params) else { return };
        self.aliases.retain(|_, known| *known != path);
        if self.documents.0.remove(&path).is_some() && is_java(&path) {
            self.put(&path, Event::Closed(path.clone()));
        }
    }

    pub(super) fn put(&self, path: &Path, event: Event) {
        if let Some((_, folder)) = self.folder_of(path) {
            folder.desk.put(event);
        }
    }

    pub(super) fn cancel(&mut self, id: &Value) {
        let Some(at) = self.open_requests.iter().position(|(open, _)| open == id) else { return };
        let (_, number) = self.open_requests[at];
        // What is being answered will be answered.
        if self.folders.get(&number).is_some_and(|folder| folder.desk.take_back(id)) {
            self.open_requests.remove(at);
            self.client.refuse(id.clone(), client::REQUEST_CANCELLED, "cancelled");
        }
    }

    pub(super) fn ask_configuration(&mut self) {
        if self.client.abilities.configuration {
            let params = json!({"items": [{"section": "snarl"}]});
            let number = self.client.ask("workspace/configuration", params);
            self.asked.insert(number, Asked::Configuration);
        }
    }

    pub(super) fn response(&mut self, id: &Value, message: &Value) {
        let Some(asked) = id.as_u64().and_then(|number| self.asked.remove(&number)) else { return };
        match asked {
            Asked::Configuration => {
                let section = message.pointer("/result/0").filter(|section| section.is_object());
                section.into_iter().for_each(|section| self.set(section));
            }
            Asked::Nothing => {}
        }
    }

    /// About settings, once each.
    pub(super) fn complain(&mut self, section: &Value) {
        let complaints = Settings::complaints(section);
        for complaint in complaints.iter().filter(|one| !self.complaints.contains(one)) {
            self.client.show(2, complaint);
        }
        self.complaints = complaints;
    }

    pub(super) fn set(&mut self, section: &Value) {
        let mut all = self.options.clone();
        if !all.is_object() {
            all = json!({});
        }
        for (key, value) in section.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            all[key] = value.clone();
        }
        let settings = Settings::of(&all);
        self.complain(&all);
        if settings == self.settings {
            return;
        }
        self.settings = settings;
        self.folders.values().for_each(|folder| folder.desk.set(self.settings.clone()));
    }
}

fn version(document: &Value) -> Option<i32> {
    i32::try_from(document.get("version")?.as_i64()?).ok()
}

fn is_java(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "java")
}
