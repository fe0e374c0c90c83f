//! Class paths as they are while a build is half done: classes of different versions and programs beside each other.
//! A session that follows from one to the next reports what a first run would.

use classfile::{ClassBytes, ClassSource, Layer};
use fixture::{Compiler, Fixture, Sequence, root};
use project::{Project, Request};
use rayon::prelude::*;
use session::{Cancel, Change, Options, Session, Verdict};
use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;

/// Walks, unless `SNARL_WALKS` says how many, and the steps of each.
const WALKS: u64 = 24;
const STEPS: usize = 8;

type Classes = BTreeMap<String, Arc<[u8]>>;

struct Mixed {
    classes: Classes,
    jdk: Arc<Project>,
}

impl ClassSource for Mixed {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        match self.classes.get(name) {
            Some(bytes) => Some(ClassBytes { bytes: bytes.clone(), layer: Layer::App }),
            None => self.jdk.find(name).filter(|found| found.layer == Layer::Jdk),
        }
    }

    fn app_classes(&self) -> Vec<String> {
        self.classes.keys().cloned().collect()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// All fixtures in all versions, and all classes of each name.
struct Pool {
    programs: Vec<Classes>,
    by_name: BTreeMap<String, Vec<Arc<[u8]>>>,
    jdk: Arc<Project>,
}

impl Pool {
    fn new() -> Pool {
        let mut fixtures = Fixture::below(&root(), "").expect("the fixtures can be read");
        let edits = Sequence::below(&root(), "").expect("the edit fixtures can be read");
        fixtures.extend(edits.into_iter().flat_map(|edit| edit.versions).map(|version| version.fixture));
        let compiled = Compiler::of_environment().compile_all(&fixtures).expect("the compiler runs");
        let open = |compiled: fixture::Compiled| {
            let paths = vec![compiled.expect("it compiles")];
            project::open(&Request { paths, ..Request::default() }).expect("it opens")
        };
        let projects: Vec<Project> = compiled.into_iter().map(open).collect();
        let bytes = |project: &Project| -> Classes {
            let bytes = |name: &String| project.find(name).expect("a class of the program").bytes;
            project.app_classes().into_iter().map(|name| (name.clone(), bytes(&name))).collect()
        };
        let programs: Vec<Classes> = projects.iter().map(bytes).collect();
        let mut by_name: BTreeMap<String, Vec<Arc<[u8]>>> = BTreeMap::new();
        for (name, bytes) in programs.iter().flatten() {
            by_name.entry(name.clone()).or_default().push(bytes.clone());
        }
        let jdk = Arc::new(projects.into_iter().next().expect("a fixture"));
        Pool { programs, by_name, jdk }
    }

    fn source(&self, classes: &Classes) -> Arc<Mixed> {
        Arc::new(Mixed { classes: classes.clone(), jdk: self.jdk.clone() })
    }

    /// One to three classes replaced, added or removed; gives their names.
    fn change(&self, classes: &mut Classes, home: &Classes, dice: &mut Dice) -> Vec<String> {
        let mut changed = Vec::new();
        for _ in 0..1 + dice.below(3) {
            let program = if dice.below(8) == 0 { dice.one(&self.programs) } else { home };
            let names: Vec<&String> = program.keys().chain(classes.keys()).collect();
            let name = dice.one(&names).to_string();
            let bytes = match home.get(&name) {
                Some(own) if dice.below(3) == 0 => own,
                _ => dice.one(&self.by_name[&name]),
            };
            if dice.below(6) == 0 {
                classes.remove(&name);
            } else {
                classes.insert(name.clone(), bytes.clone());
            }
            changed.push(name);
        }
        changed
    }

    /// What is wrong after the steps of a walk.
    fn walk(&self, seed: u64) -> Vec<String> {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let home = dice.one(&self.programs);
        let mut classes = home.clone();
        let mut session = Session::new(self.source(&classes), Options { follow: true, ..Options::default() });
        session.check(&|_, _| ());
        let mut problems = Vec::new();
        for step in 0..STEPS {
            let changed = self.change(&mut classes, home, &mut dice);
            let tell = |what: &str| format!("walk {seed}, step {step} ({}): {what}", changed.join(", "));
            let source = self.source(&classes);
            let change = Change { source: source.clone(), classes: changed.clone(), resources: false };
            let update = session.apply(change, &|_, _| (), &Cancel::default()).expect("nobody cancels");
            if update.from_scratch {
                problems.push(tell("worked out from nothing"));
            }
            let fresh = Session::new(source, Options::default()).check(&|_, _| ());
            let report = session.report();
            if fresh.findings != report.findings {
                problems.push(tell(&format!("{:#?} instead of {:#?}", report.findings, fresh.findings)));
            }
            let begins = !report.notes.iter().any(|note| note.kind == "no-entry-point");
            if let (true, Verdict::Different(what)) = (begins, session.verify()) {
                problems.push(tell(&what));
            }
        }
        problems
    }
}

/// A small generator: the same seed gives the same walk for ever.
struct Dice(u64);

impl Dice {
    fn one<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % end.max(1) as u64) as usize
    }
}

#[test]
fn a_session_follows_through_half_done_builds() {
    let walks = env::var("SNARL_WALKS").ok().and_then(|walks| walks.parse().ok()).unwrap_or(WALKS);
    let pool = Pool::new();
    let problems: Vec<String> = (1..=walks).into_par_iter().flat_map(|seed| pool.walk(seed)).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
