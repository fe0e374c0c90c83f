//! The language server: a conversation with an editor on one side, programs under analysis on the other. Knows the
//! protocol and nothing of how anything is found.

mod actions;
mod analyst;
mod asking;
mod client;
mod desk;
mod document;
mod fixes;
mod folder;
mod follower;
mod hover;
mod launching;
mod questions;
mod server;
mod settings;
mod shelf;
mod shift;
mod suppressing;
mod telling;
mod told;
mod transport;
mod trial;
mod under;
mod uri;

pub use launching::Launching;

use server::{Input, Server};
use std::io::{BufReader, BufWriter, Read, Write};
use std::sync::mpsc::channel;
use std::thread;
use transport::Incoming;

/// How the conversation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As the protocol wants it: `shutdown`, then `exit`.
    Properly,
    /// The client went without a word, or said `exit` alone.
    Abruptly,
}

/// Talks until the client has enough, or is gone.
pub fn run(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    launching: Launching,
) -> Ended {
    let (to_server, inputs) = channel();
    let from_client = to_server.clone();
    thread::spawn(move || {
        let mut input = BufReader::new(input);
        loop {
            let incoming = transport::read(&mut input);
            let is_end = matches!(incoming, Incoming::End);
            if from_client.send(Input::Client(incoming)).is_err() || is_end {
                return;
            }
        }
    });
    let (messages, outgoing) = channel();
    let writer = thread::spawn(move || {
        let mut output = BufWriter::new(output);
        for message in outgoing {
            // If nobody reads any more, the end of what is read tells.
            if transport::write(&mut output, &message).is_err() {
                return;
            }
        }
    });
    let ended = Server::new(messages, to_server, launching).run(&inputs);
    let _ = writer.join();
    ended
}
