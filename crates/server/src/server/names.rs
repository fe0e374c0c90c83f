//! What files are called: by the client, and by the folder that they are analysed in.

use super::Server;
use crate::uri;
use serde_json::Value;
use std::path::PathBuf;

impl Server {
    /// The file that a message is about, as its folder calls it.
    pub(super) fn document(&self, params: &Value) -> Option<PathBuf> {
        let path = document_path(params)?;
        Some(self.aliases.get(&path).cloned().unwrap_or(path))
    }

    /// The same of a file that is opened: where no folder has it by this name, one may by another.
    pub(super) fn located(&mut self, told: PathBuf) -> PathBuf {
        if self.folder_of(&told).is_some() {
            return told;
        }
        let real = told.canonicalize().ok();
        let within = |root: &PathBuf| {
            let rest = real.as_ref()?.strip_prefix(root.canonicalize().ok()?).ok()?.to_path_buf();
            Some(root.join(rest))
        };
        match self.folders.values().find_map(|folder| within(&folder.root)) {
            Some(path) => {
                self.aliases.insert(told, path.clone());
                path
            }
            None => told,
        }
    }

    /// An answer with the client's names for its files.
    pub(super) fn in_its_names(&self, answer: Value) -> Value {
        if self.aliases.is_empty() {
            return answer;
        }
        let name = |text: String| match uri::to_path(&text) {
            Some(path) if !text.contains('#') => self.documents.uri(&path),
            _ => text,
        };
        match answer {
            Value::String(text) => Value::String(name(text)),
            Value::Array(all) => all.into_iter().map(|one| self.in_its_names(one)).collect(),
            Value::Object(all) => {
                let all = all.into_iter().map(|(key, one)| (name(key), self.in_its_names(one)));
                Value::Object(all.collect())
            }
            other => other,
        }
    }
}

pub(super) fn document_path(params: &Value) -> Option<PathBuf> {
    uri::to_path(params.pointer("/textDocument/uri")?.as_str()?)
}
