//! One process, from its start to its end: frames go in and come out, and whoever waits for one waits no longer than it
//! is worth. What becomes of a process that has failed is decided elsewhere.

use crate::answer::{self, Answer};
use crate::launch::Launch;
use crate::request;
use crate::wire::{Decoder, Malformed};
use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Larger frames are none.
const LARGEST: usize = 1 << 29;
/// Errors that begin like this are its own.
const MISTAKE: &str = "internal error:";
/// So much of what it complains about is kept.
const COMPLAINTS: usize = 4096;

/// How long is waited.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a sign of life, also while it works.
    pub sign: Duration,
    /// For an answer, signs of life or not.
    pub answer: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { sign: Duration::from_secs(10), answer: Duration::from_secs(120) }
    }
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// `ecj` or `javac`
    pub compiler: String,
    pub version: String,
    pub newest_level: i32,
    pub java: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It could not be started.
    NotStarted(String),
    /// It ended, with these last words.
    Ended(String),
    /// It gave no sign of life, or no answer.
    Hangs,
    /// It says something that nobody understands.
    Garbled,
    /// It has made a mistake, and nobody knows what it has done.
    Broken(String),
    /// It does not do what it was asked, and says why; it goes on.
    Refused(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotStarted(why) => write!(f, "the compiler could not be started: {why}"),
            Failure::Ended(words) if words.is_empty() => write!(f, "the compiler has ended"),
            Failure::Ended(words) => write!(f, "the compiler has ended: {words}"),
            Failure::Hangs => write!(f, "the compiler does not answer"),
            Failure::Garbled => write!(f, "the compiler says something that nobody understands"),
            Failure::Broken(what) => write!(f, "the compiler is broken: {what}"),
            Failure::Refused(why) => write!(f, "the compiler refuses: {why}"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<Malformed> for Failure {
    fn from(_: Malformed) -> Failure {
        Failure::Garbled
    }
}

enum Incoming {
    Frame(u8, Vec<u8>),
    Garbled,
    End,
}

pub(crate) struct Process {
    child: Child,
    outgoing: Sender<Vec<u8>>,
    incoming: Receiver<Incoming>,
    complaints: Arc<Mutex<Vec<u8>>>,
    pub welcome: Welcome,
}

impl Process {
    pub fn start(launch: &Launch, patience: Patience) -> Result<Process, Failure> {
        if let Some(missing) = launch.missing() {
            return Err(Failure::NotStarted(format!("{} is missing", missing.display())));
        }
        let mut command = launch.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| {
            Failure::NotStarted(format!("{}: {error}", command.get_program().to_string_lossy()))
        })?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Failure::NotStarted("it has no pipes".to_owned()));
        };
        let complaints: Arc<Mutex<Vec<u8>>> = Arc::default();
        let (outgoing, frames) = channel();
        thread::spawn(move || write(input, frames));
        let (from, incoming) = channel();
        thread::spawn(move || read(output, from));
        let kept = complaints.clone();
        thread::spawn(move || listen(errors, kept));
        let (compiler, version, java) = Default::default();
        let welcome = Welcome { compiler, version, newest_level: 0, java };
        let mut process = Process { child, outgoing, incoming, complaints, welcome };
        process.send(request::hello());
        process.welcome = process.await_welcome(patience).map_err(|failure| match failure {
            Failure::Ended(words) => Failure::NotStarted(words),
            other => other,
        })?;
        Ok(process)
    }

    /// Sends a request and waits for the answer to it.
    pub fn ask(&mut self, number: i32, frame: Vec<u8>, patience: Patience) -> Result<Answer, Failure> {
        self.send(frame);
        self.wait(patience, |kind, body| match kind {
            answer::ANSWER => {
                let (request, answer) = answer::answer(body)?;
                Ok((request == number).then_some(answer))
            }
            answer::SUPERSEDED => Err(Failure::Garbled),
            answer::ERROR => {
                let mut body = Decoder::new(body);
                match (body.i32()?, body.text()?) {
                    (request, what) if request == number && what.starts_with(MISTAKE) => {
                        Err(Failure::Broken(what))
                    }
                    (request, why) if request == number => Err(Failure::Refused(why)),
                    _ => Err(Failure::Garbled),
                }
            }
            _ => Ok(None),
        })
    }

    fn await_welcome(&mut self, patience: Patience) -> Result<Welcome, Failure> {
        self.wait(patience, |kind, body| match kind {
            answer::WELCOME => {
                let mut body = Decoder::new(body);
                if (body.i32()?, body.i32()?) != (request::MAGIC, request::VERSION) {
                    return Err(Failure::Garbled);
                }
                let (compiler, version) = (body.text()?, body.text()?);
                Ok(Some(Welcome { compiler, version, newest_level: body.i32()?, java: body.text()? }))
            }
            _ => Err(Failure::Garbled),
        })
    }

    /// Waits for a frame that `take` takes.
    fn wait<T>(
        &mut self,
        patience: Patience,
        take: impl Fn(u8, &[u8]) -> Result<Option<T>, Failure>,
    ) -> Result<T, Failure> {
        let began = Instant::now();
        let mut heard = began;
        loop {
            let left = (heard + patience.sign)
                .min(began + patience.answer)
                .saturating_duration_since(Instant::now());
            // Asked in time, it can answer in time.
            match self.incoming.recv_timeout(left.min(patience.sign / 4)) {
                Ok(Incoming::Frame(answer::PONG, _)) => heard = Instant::now(),
                Ok(Incoming::Frame(kind, body)) => {
                    heard = Instant::now();
                    if let Some(taken) = take(kind, &body)? {
                        return Ok(taken);
                    }
                }
                Ok(Incoming::Garbled) => return Err(Failure::Garbled),
                Ok(Incoming::End) | Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Failure::Hangs),
                Err(RecvTimeoutError::Timeout) => self.send(request::ping(0)),
            }
        }
    }

    fn send(&self, frame: Vec<u8>) {
        // If nobody takes it, the end is found by whoever waits for an answer.
        let _ = self.outgoing.send(frame);
    }

    fn ended(&mut self) -> Failure {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let complaints = self.complaints.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        Failure::Ended(String::from_utf8_lossy(&complaints).trim().to_owned())
    }

    /// For tests: what the system calls it.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.send(request::shutdown());
        // It has nothing to lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process that does not read must not keep whoever writes to it: this thread waits for it.
fn write(mut to: ChildStdin, frames: Receiver<Vec<u8>>) {
    for frame in frames {
        if to.write_all(&frame).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn read(mut from: ChildStdout, to: Sender<Incoming>) {
    loop {
        let next = match read_frame(&mut from) {
            Ok(Some((kind, body))) => Incoming::Frame(kind, body),
            Ok(None) => Incoming::Garbled,
            Err(_) => Incoming::End,
        };
        let is_last = !matches!(next, Incoming::Frame(..));
        if to.send(next).is_err() || is_last {
            return;
        }
    }
}

/// `None` for a length that none has.
fn read_frame(from: &mut impl Read) -> io::Result<Option<(u8, Vec<u8>)>> {
    let mut head = [0; 5];
    from.read_exact(&mut head)?;
    let [a, b, c, d, kind] = head;
    let len = match usize::try_from(i32::from_be_bytes([a, b, c, d])) {
        Ok(len) if (1..=LARGEST).contains(&len) => len - 1,
        _ => return Ok(None),
    };
    let mut body = Vec::new();
    // What is not there takes no memory.
    from.take(len as u64).read_to_end(&mut body)?;
    if body.len() < len { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Some((kind, body))) }
}

/// Keeps the end of what it says to people.
fn listen(mut from: ChildStderr, to: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let mut kept = to.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.extend_from_slice(&buffer[..count]);
        let surplus = kept.len().saturating_sub(COMPLAINTS);
        kept.drain(..surplus);
    }
}
