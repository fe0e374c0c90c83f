//! A hand-made report on a small bank, as the analysis would give it: one race, one deadlock.

use findings::{
    AccessKind, Confidence, Engine, Finding, Frame, LockUse, Note, Place, Report, Rule, Site, Stats,
    fingerprint,
};
use report::Sources;

/// The bank's sources under `src/`.
pub struct Bank;

impl Sources for Bank {
    fn text(&self, file: &str) -> Option<String> {
        match file {
            "bank/Account.java" => Some(include_str!("Account.java").to_owned()),
            "bank/Main.java" => Some(include_str!("Main.java").to_owned()),
            _ => None,
        }
    }

    fn display(&self, file: &str) -> String {
        if self.text(file).is_some() { format!("src/{file}") } else { file.to_owned() }
    }
}

pub fn report() -> Report {
    let note = |kind: &str, message: &str, count| Note { kind: kind.into(), message: message.into(), count };
    let rows = |rows: &[(&str, u64)]| rows.iter().map(|(name, count)| (name.to_string(), *count)).collect();
    let mut report = Report {
        findings: vec![deadlock().into(), race().into()],
        notes: vec![
            note("opaque-call", "java.io.PrintStream.println(int) is not analysed", 3),
            note("missing-class", "org.slf4j.Logger is not on the class path", 1),
        ],
        stats: Stats {
            sizes: rows(&[("classes", 412), ("methods", 1873), ("facts", 20_914)]),
            seconds: vec![("lower".into(), 0.0184), ("points-to".into(), 0.0421), ("detect".into(), 0.0032)],
            pairs: rows(&[("same location", 6), ("overlapping threads", 4), ("no common lock", 1)]),
        },
        ..Report::default()
    };
    report.sort();
    report
}

pub fn race() -> Finding {
    Finding {
        id: fingerprint(&["race", "bank.Account.balance", "read", "write"]),
        rule: Rule::Race,
        confidence: Confidence::High,
        engines: vec![Engine::WholeProgram],
        message: "bank.Account.balance is written by one thread while another reads it".into(),
        field: Some("bank.Account.balance".into()),
        object: Some(place("Main", 5)),
        sites: vec![
            Site {
                locks: vec![lock("this", 8)],
                ..site(
                    AccessKind::Write,
                    8,
                    "bank.Account.deposit(int)",
                    "thread started at bank/Main.java:10",
                    7,
                )
            },
            Site {
                origin: "main thread".into(),
                started: None,
                trace: vec![
                    frame("bank.Main.main(java.lang.String[])", "Main", 13),
                    frame("bank.Account.balance()", "Account", 12),
                ],
                ..site(AccessKind::Read, 12, "bank.Account.balance()", "", 0)
            },
        ],
        why: vec![
            "no common lock: the read holds none".into(),
            "the thread started at bank/Main.java:10 is not joined before bank/Main.java:13".into(),
        ],
        fields: Vec::new(),
        also: vec![
            (place("Account", 18), place("Account", 12)),
            (place("Account", 19), place("Account", 12)),
        ],
        ..Finding::default()
    }
}

pub fn deadlock() -> Finding {
    let alice = "bank.Account of bank/Main.java:5";
    let bob = "bank.Account of bank/Main.java:6";
    let transfer = "bank.Account.transfer(bank.Account, int)";
    let side = |holds, wants, origin: &str, lambda| Site {
        holds: Some(lock(holds, 16)),
        acquires: Some(lock(wants, 17)),
        ..site(AccessKind::Acquire, 17, transfer, origin, lambda)
    };
    Finding {
        id: fingerprint(&["deadlock", transfer, transfer]),
        rule: Rule::Deadlock,
        confidence: Confidence::High,
        engines: vec![Engine::WholeProgram, Engine::Compositional],
        message: "two threads take the locks of two accounts in opposite order".into(),
        field: None,
        object: None,
        sites: vec![
            side(alice, bob, "thread started at bank/Main.java:11", 8),
            side(bob, alice, "thread started at bank/Main.java:12", 9),
        ],
        why: vec!["no lock is held around both".into()],
        ..Finding::default()
    }
}

/// In `Account`, reached from a lambda in `Main`.
fn site(access: AccessKind, line: u32, method: &str, origin: &str, lambda: u32) -> Site {
    Site {
        access,
        place: place("Account", line),
        method: method.into(),
        origin: origin.into(),
        started: Some(place("Main", lambda + 3)),
        trace: vec![
            frame("bank.Main.lambda$main$0(bank.Account)", "Main", lambda),
            frame(method, "Account", line),
        ],
        ..Site::default()
    }
}

fn frame(method: &str, class: &str, line: u32) -> Frame {
    Frame { method: method.into(), place: place(class, line) }
}

fn lock(name: &str, line: u32) -> LockUse {
    LockUse { name: name.into(), place: place("Account", line), shared: false }
}

pub fn place(class: &str, line: u32) -> Place {
    Place { file: format!("bank/{class}.java"), line }
}
