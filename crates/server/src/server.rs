//! The conversation: every message of the client and every result of an analysis comes here, one after the other. Decides
//! who is told what; works nothing out itself.

mod folders;
mod notifications;
mod requests;

use crate::Ended;
use crate::analyst::Tell;
use crate::client::{self, Client};
use crate::document::Documents;
use crate::folder::Folder;
use crate::launching::Launching;
use crate::settings::Settings;
use crate::shelf::Shelf;
use crate::transport::Incoming;
use crate::uri;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
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
    /// What the client was told about its settings.
    complaints: Vec<String>,
    documents: Documents,
    /// Open files that the client calls otherwise than their folder does, by what it calls them: links lead there.
    aliases: BTreeMap<PathBuf, PathBuf>,
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
            complaints: Vec::new(),
            documents: Documents::default(),
            aliases: BTreeMap::new(),
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
}

impl Server {
    /// The file that a message is about, as its folder calls it.
    fn document(&self, params: &Value) -> Option<PathBuf> {
        let path = document_path(params)?;
        Some(self.aliases.get(&path).cloned().unwrap_or(path))
    }

    /// The same of a file that is opened: where no folder has it by this name, one may by another.
    fn located(&mut self, told: PathBuf) -> PathBuf {
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
    fn in_its_names(&self, answer: Value) -> Value {
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

fn document_path(params: &Value) -> Option<PathBuf> {
    uri::to_path(params.pointer("/textDocument/uri")?.as_str()?)
}

fn position(params: &Value) -> Option<(u32, u32)> {
    point(params.get("position")?)
}

fn point(at: &Value) -> Option<(u32, u32)> {
    let part = |name: &str| u32::try_from(at.get(name)?.as_u64()?).ok();
    Some((part("line")?, part("character")?))
}
