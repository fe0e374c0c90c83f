//! The other end of the conversation: what it understands, and the messages to it. Knows nothing of what they are about.

use serde_json::{Value, json};
use std::sync::mpsc::Sender;

/// Error codes of the protocol.
pub const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const INTERNAL_ERROR: i64 = -32603;
pub const NOT_INITIALIZED: i64 = -32002;
pub const REQUEST_CANCELLED: i64 = -32800;

pub struct Client {
    messages: Sender<Value>,
    last_request: u64,
    pub abilities: Abilities,
}

/// What a client has said that it understands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Abilities {
    /// It asks for diagnostics, and can be told that there are others.
    pub pulls: bool,
    /// It shows what else there is to see beside a diagnostic.
    pub related: bool,
    pub progress: bool,
    pub configuration: bool,
    pub shows_documents: bool,
    pub refreshes_lenses: bool,
    pub refreshes_hints: bool,
    /// It understands what we add to the protocol.
    pub snarl: bool,
}

impl Abilities {
    pub fn of(capabilities: &Value) -> Abilities {
        let is = |path: &str| capabilities.pointer(path).and_then(Value::as_bool).unwrap_or(false);
        let has = |path: &str| capabilities.pointer(path).is_some_and(Value::is_object);
        Abilities {
            // A client that cannot be told would show what was true when it last asked.
            pulls: has("/textDocument/diagnostic") && is("/workspace/diagnostics/refreshSupport"),
            related: is("/textDocument/publishDiagnostics/relatedInformation")
                || is("/textDocument/diagnostic/relatedInformation")
                || has("/textDocument/diagnostic"),
            progress: is("/window/workDoneProgress"),
            configuration: is("/workspace/configuration"),
            shows_documents: is("/window/showDocument/support"),
            refreshes_lenses: is("/workspace/codeLens/refreshSupport"),
            refreshes_hints: is("/workspace/inlayHint/refreshSupport"),
            snarl: is("/experimental/snarl"),
        }
    }
}

impl Client {
    pub fn new(messages: Sender<Value>) -> Client {
        Client { messages, last_request: 0, abilities: Abilities::default() }
    }

    pub fn answer(&self, id: Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub fn refuse(&self, id: Value, code: i64, message: &str) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
    }

    pub fn notify(&self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Asks the client; its answer will come with the number.
    pub fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.last_request += 1;
        let id = self.last_request;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Shows a message: 1 error, 2 warning, 3 information.
    pub fn show(&self, kind: u8, message: &str) {
        self.notify("window/showMessage", json!({"type": kind, "message": format!("Snarl: {message}")}));
    }

    pub fn log(&self, message: &str) {
        self.notify("window/logMessage", json!({"type": 3, "message": message}));
    }

    fn send(&self, message: Value) {
        // If nobody takes it, the end of what is read tells.
        let _ = self.messages.send(message);
    }
}
