//! The conversation: every message of the client and every result of an analysis comes here, one after the other. Decides
//! who is told what; works nothing out itself.

mod folders;
mod names;
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

fn position(params: &Value) -> Option<(u32, u32)> {
    point(params.get("position")?)
}

fn point(at: &Value) -> Option<(u32, u32)> {
    let part = |name: &str| u32::try_from(at.get(name)?.as_u64()?).ok();
    Some((part("line")?, part("character")?))
}
