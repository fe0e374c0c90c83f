//! Damaged class files through the whole pipeline: whatever the bytes, a report comes out. The damage is the
//! same every time, and says how to repeat it.

use classfile::{ClassBytes, ClassSource, Layer};
use findings::Report;
use fixture::{Compiler, Fixture, root};
use project::{Project, Request};
use rayon::prelude::*;
use session::{Options, Session};
use std::collections::BTreeMap;
use std::env;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Programs that between them use most of what the bytecode has.
const PROGRAMS: [&str; 8] = [
    "confined/queue_hand_over.java",
    "containers/iterate_locked.java",
    "deadlock/three_locks.java",
    "language/lambda_captures_this.java",
    "language/pattern_matching.java",
    "locks/try_with_resources.java",
    "order/join_list_of_threads.java",
    "threads/completable_future_chain.java",
];

/// Damaged versions of each program, beside the JDK.
const WITH_JDK: u64 = 32;
/// And without: the JDK is missing too, and what is left takes milliseconds.
const WITHOUT_JDK: u64 = 100;

/// A run of such a small program that takes this long will not end.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program with one class replaced.
struct Damaged {
    classes: BTreeMap<String, Arc<[u8]>>,
    jdk: Option<Arc<Project>>,
}

impl ClassSource for Damaged {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        match self.classes.get(name) {
            Some(bytes) => Some(ClassBytes::new(bytes.clone(), Layer::App)),
            None => self.jdk.as_ref()?.find(name),
        }
    }

    fn app_classes(&self) -> Vec<String> {
        self.classes.keys().cloned().collect()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

struct Program {
    name: &'static str,
    classes: BTreeMap<String, Arc<[u8]>>,
    project: Arc<Project>,
}

fn programs() -> Vec<Program> {
    let all = Fixture::below(&root(), "").expect("the fixtures can be read");
    let wanted = |name: &&str| all.iter().find(|fixture| fixture.name == *name).cloned();
    let fixtures: Vec<Fixture> = PROGRAMS.iter().filter_map(wanted).collect();
    assert_eq!(fixtures.len(), PROGRAMS.len(), "a fixture was renamed");
    let compiled = Compiler::of_environment().compile_all(&fixtures).expect("the compiler runs");
    let program = |(name, classes): (&'static str, fixture::Compiled)| {
        let paths = vec![classes.expect("it compiles")];
        let project = project::open(&Request { paths, ..Request::default() }).expect("it opens");
        let bytes = |name: String| {
            let found = project.find(&name).expect("a class of the program");
            (name, found.bytes)
        };
        let classes = project.app_classes().into_iter().map(bytes).collect();
        Program { name, classes, project: Arc::new(project) }
    };
    PROGRAMS.into_iter().zip(compiled).map(program).collect()
}

impl Program {
    /// The program with one of its classes damaged, in the way that the seed says.
    fn damaged(&self, seed: u64, with_jdk: bool) -> Damaged {
        let mut dice = Dice::new(seed);
        let mut classes = self.classes.clone();
        let at = dice.below(classes.len());
        let victim = classes.values_mut().nth(at).expect("a class");
        *victim = damage(victim, &mut dice).into();
        Damaged { classes, jdk: with_jdk.then(|| self.project.clone()) }
    }
}

fn check(source: Damaged) -> Report {
    Session::new(Arc::new(source), Options::default()).check(&|_, _| ())
}

/// A small generator: the same seed gives the same damage for ever.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }
}

/// One to four changes. Most keep the shape of the file, so that they are met late rather than by the reader.
fn damage(class: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = class.to_vec();
    let texts = texts(class);
    let constants = u16::from_be_bytes([class[8], class[9]]);
    let after_pool = texts.last().map_or(10, |&(at, len)| at + len);
    for _ in 0..1 + dice.below(4) {
        let structure = after_pool + dice.below(bytes.len().saturating_sub(after_pool + 4));
        match dice.below(12) {
            // Another constant, or another number, where one stands.
            0..=3 => {
                put(&mut bytes, structure, &(dice.below(usize::from(constants) + 1) as u16).to_be_bytes())
            }
            // Another instruction, flag or small number.
            4..=5 => put(&mut bytes, structure, &[dice.roll() as u8]),
            // Another constant inside the pool, or another kind of constant.
            6 => {
                let at = 10 + dice.below(after_pool.saturating_sub(12));
                put(&mut bytes, at, &[dice.roll() as u8]);
            }
            // A name or descriptor with a letter changed.
            7..=8 => {
                if let Some(&(at, len)) = texts.get(dice.below(texts.len())) {
                    let letters = b"()[;/<>LVIJDZ$.\0\xc3";
                    put(&mut bytes, at + dice.below(len), &[letters[dice.below(letters.len())]]);
                }
            }
            // A piece from elsewhere.
            9 => {
                let (from, len) = (dice.below(bytes.len()), 1 + dice.below(16));
                let piece = bytes[from..bytes.len().min(from + len)].to_vec();
                put(&mut bytes, structure, &piece);
            }
            // A length that is a lie.
            10 => put(&mut bytes, structure, &(dice.roll() as u32).to_be_bytes()),
            // A file that ends early, or goes on.
            _ => {
                let len = dice.below(bytes.len() + 8);
                bytes.resize(len, 0);
            }
        }
        if bytes.len() < after_pool + 8 {
            break;
        }
    }
    bytes
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    let end = bytes.len().min(at + new.len());
    if at < end {
        bytes[at..end].copy_from_slice(&new[..end - at]);
    }
}

/// Where the texts of the constant pool stand, and how long they are.
fn texts(class: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let (mut at, mut left) = (10, u16::from_be_bytes([class[8], class[9]]) - 1);
    while left > 0 {
        left -= 1;
        at += match class[at] {
            1 => {
                let len = usize::from(u16::from_be_bytes([class[at + 1], class[at + 2]]));
                found.push((at + 3, len));
                3 + len
            }
            5 | 6 => {
                left -= 1;
                9
            }
            7 | 8 | 16 | 19 | 20 => 3,
            15 => 4,
            _ => 5,
        };
    }
    found
}

/// Runs all, on every core; ends the process if one does not come back.
fn try_all(seeds: u64, with_jdk: bool) {
    let programs = programs();
    let seeds = wanted().unwrap_or(0..seeds);
    let all: Vec<(&Program, u64)> =
        programs.iter().flat_map(|program| seeds.clone().map(move |seed| (program, seed))).collect();
    let one = |&(program, seed): &(&Program, u64)| {
        let run = AssertUnwindSafe(|| check(program.damaged(seed, with_jdk)));
        let what = format!("{}, seed {seed}", program.name);
        let report = within(&what, || catch_unwind(run));
        report.map_err(|panic| format!("{what}: {}", panic_text(&*panic)))
    };
    let results: Vec<Result<Report, String>> = all.par_iter().map(one).collect();
    let panics: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(panics.is_empty(), "{} of {} runs panicked:\n{panics:#?}", panics.len(), results.len());

    // The damage must not only be of the kind that the reader refuses.
    let refused = |report: &&Report| report.notes.iter().any(|note| note.kind == "corrupt-class");
    let reports: Vec<&Report> = results.iter().flatten().collect();
    let deep = reports.iter().filter(|report| !refused(report)).count();
    assert!(deep * 4 > reports.len(), "only {deep} of {} got past the class reader", reports.len());
}

/// `SNARL_SEEDS=205` repeats one seed, `SNARL_SEEDS=1000-2000` tries others than the tests do.
fn wanted() -> Option<Range<u64>> {
    let text = env::var("SNARL_SEEDS").ok()?;
    let (first, last) = text.split_once('-').unwrap_or((&text, &text));
    let number = |text: &str| text.parse::<u64>().expect("a seed is a number");
    Some(number(first)..number(last) + 1)
}

fn within<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let (sender, receiver) = channel::<()>();
    let what = what.to_owned();
    thread::spawn(move || {
        if receiver.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{what} does not end");
            process::abort();
        }
    });
    let result = work();
    drop(sender);
    result
}

fn panic_text(panic: &dyn std::any::Any) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[test]
fn damaged_classes_never_panic() {
    try_all(WITH_JDK, true);
}

#[test]
fn damaged_classes_never_panic_without_a_jdk() {
    try_all(WITHOUT_JDK, false);
}

#[test]
fn the_undamaged_programs_are_understood() {
    for program in programs() {
        let source = Damaged { classes: program.classes.clone(), jdk: Some(program.project.clone()) };
        let report = check(source);
        let wrong = ["corrupt-class", "missing-class", "unreadable-body", "unresolved-call"];
        let notes: Vec<_> = report.notes.iter().filter(|note| wrong.contains(&note.kind.as_str())).collect();
        assert!(notes.is_empty(), "{}: {notes:?}", program.name);
    }
}
