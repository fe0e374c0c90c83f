//! A compiler that is always there: if its process ends or hangs, another one takes its place and is told everything
//! that the last one knew.

use crate::answer::Answer;
use crate::launch::Launch;
use crate::process::{Failure, Patience, Process, Welcome};
use crate::request::{self, Module, ModuleChange, applied};

pub struct Compiler {
    launch: Launch,
    patience: Patience,
    /// Nothing before it is needed, and after one has failed.
    process: Option<Process>,
    /// What the process knows, or the next one has to be told.
    modules: Vec<Module>,
    last_request: i32,
    starts: usize,
}

/// What was told to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub answer: Answer,
    /// By a process that was just started: it tells everything, as if nothing had been told before.
    pub anew: bool,
}

/// If one process after the other fails at the same request, it is the request.
const ATTEMPTS: usize = 2;

impl Compiler {
    /// Starts nothing before it is asked for something.
    pub fn new(launch: Launch, patience: Patience) -> Compiler {
        Compiler { launch, patience, process: None, modules: Vec::new(), last_request: 0, starts: 0 }
    }

    /// These are the modules now, in the place of all there were. Everything that is not known already is compiled.
    pub fn configure(&mut self, modules: Vec<Module>) -> Result<Told, Failure> {
        let is_left = |known: &Module| modules.iter().any(|module| module.id == known.id);
        if !self.modules.iter().all(is_left) {
            // It is seldom that a module goes, and a new process is sure to know nothing of it.
            self.process = None;
        }
        self.request(&Wish::Modules(&modules))
    }

    /// Follows edits. If that fails, they have not happened.
    pub fn change(&mut self, changes: &[ModuleChange]) -> Result<Told, Failure> {
        self.request(&Wish::Changes(changes))
    }

    /// Who answers, if it was started.
    pub fn welcome(&self) -> Option<&Welcome> {
        self.process.as_ref().map(|process| &process.welcome)
    }

    /// How many processes there were.
    pub fn starts(&self) -> usize {
        self.starts
    }

    /// What the system calls the process that is running.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    fn request(&mut self, wish: &Wish<'_>) -> Result<Told, Failure> {
        let mut last = Failure::Hangs;
        for _ in 0..ATTEMPTS {
            let told = match self.process.take() {
                Some(process) => self.ask_running(process, wish),
                None => self.ask_new(&wish.after(self.modules.clone())),
            };
            match told {
                Ok(told) => {
                    self.modules = wish.after(std::mem::take(&mut self.modules));
                    return Ok(told);
                }
                // A process that refuses is as good as before; and one that cannot be started will not be.
                Err(failure @ (Failure::Refused(_) | Failure::NotStarted(_))) => return Err(failure),
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    fn ask_running(&mut self, mut process: Process, wish: &Wish<'_>) -> Result<Told, Failure> {
        self.last_request += 1;
        let frame = wish.frame(self.last_request, process.welcome.newest_level);
        let answered = process.ask(self.last_request, frame, self.patience);
        if matches!(answered, Ok(_) | Err(Failure::Refused(_))) {
            self.process = Some(process);
        }
        answered.map(|answer| Told { answer, anew: false })
    }

    fn ask_new(&mut self, modules: &[Module]) -> Result<Told, Failure> {
        self.starts += 1;
        self.last_request += 1;
        let mut process = Process::start(&self.launch, self.patience)?;
        let frame = request::configure(self.last_request, modules, process.welcome.newest_level);
        let answer = process.ask(self.last_request, frame, self.patience)?;
        self.process = Some(process);
        Ok(Told { answer, anew: true })
    }
}

/// What is asked for.
enum Wish<'a> {
    Modules(&'a [Module]),
    Changes(&'a [ModuleChange]),
}

impl Wish<'_> {
    fn frame(&self, number: i32, newest: i32) -> Vec<u8> {
        match self {
            Wish::Modules(modules) => request::configure(number, modules, newest),
            Wish::Changes(changes) => request::change(number, changes),
        }
    }

    /// The modules when it is done. Texts are many: those that stay are not copied.
    fn after(&self, before: Vec<Module>) -> Vec<Module> {
        match self {
            Wish::Modules(modules) => modules.to_vec(),
            Wish::Changes(changes) => applied(before, changes),
        }
    }
}
