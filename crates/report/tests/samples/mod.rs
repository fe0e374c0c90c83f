//! A hand-made report on a small bank, as the analysis would give it: one race, one deadlock. And one of findings that no
//! renderer likes.

use findings::{
    AccessKind, Confidence, Engine, Finding, Frame, LockUse, Note, Place, Report, Rule, Site, Stats,
    Unguarded, fingerprint,
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
        unguarded: vec![Unguarded {
            access: AccessKind::Read,
            method: "bank.Account.balance()".into(),
            field: "bank.Account.balance".into(),
            place: place("Account", 12),
        }],
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

/// Everything that may be unknown, missing, too many, or not fit for a format.
pub fn odd() -> Report {
    let evil =
        "100% of <a href=\"x\">&amp;</a>, [b](1): \u{1b}]0;owned\u{7}\u{0}\r\n::error::,\u{ffff} 𝒳 ]]>";
    let bare = |rule, sites| Finding { rule, sites, id: "0123456789abcdef".into(), ..Finding::default() };
    let unknown = Site { method: "bank.Account$1.run()".into(), ..Site::default() };
    let nowhere = Site::default();
    let elsewhere = Site {
        place: Place { file: "org/h2 x/100%.java".into(), line: 7 },
        method: "org.h2.X.run()".into(),
        origin: "any thread".into(),
        ..Site::default()
    };
    let lineless = Site { place: place("Account", 0), ..elsewhere.clone() };
    let beyond = Site { place: place("Account", 9999), ..elsewhere.clone() };
    let nasty = Site {
        place: Place { file: evil.into(), line: 1 },
        method: evil.into(),
        origin: evil.into(),
        concurrent: vec![evil.into()],
        locks: vec![LockUse {
            name: evil.into(),
            place: place("Account", 8),
            shared: true,
            ..LockUse::default()
        }],
        trace: vec![Frame { method: evil.into(), place: Place::default() }; 2],
        ..Site::default()
    };
    let findings = [
        bare(Rule::Race, vec![]),
        bare(Rule::UnprotectedWrite, vec![unknown.clone()]),
        bare(Rule::ContainerRace, vec![nowhere.clone(), elsewhere.clone()]),
        bare(Rule::Deadlock, vec![elsewhere.clone(), lineless.clone(), beyond.clone(), nowhere, unknown]),
        bare(Rule::GuardedBy, vec![lineless]),
        bare(Rule::BlockingUnderLock, vec![beyond]),
        Finding {
            message: evil.into(),
            why: vec![evil.into()],
            ..bare(Rule::Race, vec![nasty.clone(), nasty])
        },
        compositional(),
    ];
    let note = Note { kind: "corrupt-class".into(), message: evil.into(), count: 2 };
    Report { findings: findings.map(Into::into).into(), notes: vec![note], ..Report::default() }
}

/// As the engine that sees one class at a time tells it.
pub fn compositional() -> Finding {
    let call = Site {
        concurrent: vec![
            "bank.Account is annotated @ThreadSafe".into(),
            "deposit(int) is synchronized".into(),
        ],
        locks: vec![lock("this", 16)],
        origin: "any thread".into(),
        started: None,
        trace: vec![],
        ..site(AccessKind::Block, 17, "bank.Account.transfer(bank.Account, int)", "", 0)
    };
    Finding {
        id: fingerprint(&["blocking-under-lock", "transfer"]),
        rule: Rule::BlockingUnderLock,
        confidence: Confidence::Medium,
        engines: vec![Engine::Compositional],
        message: "transfer waits for the disk while it holds a lock".into(),
        sites: vec![call],
        why: vec!["java.nio.file.Files.readString may take long".into()],
        assumed: vec!["several threads share one bank.Account".into()],
        fix: vec!["call it before bank/Account.java:16".into()],
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
    LockUse { name: name.into(), place: place("Account", line), shared: false, ..LockUse::default() }
}

pub fn place(class: &str, line: u32) -> Place {
    Place { file: format!("bank/{class}.java"), line }
}
