//! What a developer reads.

mod samples;

use findings::{AccessKind, Confidence, Finding, Frame, LockUse, Note, Place, Report, Rule};
use insta::assert_snapshot;
use report::text::{self, Look};
use report::{NoSources, Sources};
use samples::{Bank, deadlock, place, race};

fn plain(finding: &Finding) -> String {
    text::finding(finding, &Bank, &Look::plain())
}

#[test]
fn a_race_shows_both_accesses() {
    assert_snapshot!(plain(&race()));
}

#[test]
fn a_deadlock_shows_what_each_thread_holds_and_wants() {
    assert_snapshot!(plain(&deadlock()));
}

#[test]
fn without_sources_everything_is_still_said() {
    let both = [race(), deadlock()].map(|finding| text::finding(&finding, &NoSources, &Look::plain()));
    assert_snapshot!(both.join("\n"));
}

#[test]
fn a_thread_may_race_with_another_of_its_kind() {
    let mut finding = race();
    finding.sites[1] = finding.sites[0].clone();
    finding.sites[1].locks = vec![LockUse {
        name: "Bank.rates".into(),
        place: place("Main", 11),
        shared: true,
        ..LockUse::default()
    }];
    finding.confidence = Confidence::Medium;
    assert_snapshot!(plain(&finding));
}

#[test]
fn two_sides_that_are_the_same_are_told_once() {
    let mut finding = race();
    finding.sites[1] = finding.sites[0].clone();
    assert_snapshot!(plain(&finding));
}

#[test]
fn a_lock_that_is_held_is_named_once() {
    let mut finding = deadlock();
    for site in &mut finding.sites {
        site.locks = site.holds.clone().into_iter().collect();
    }
    assert_eq!(plain(&finding), plain(&deadlock()));
}

#[test]
fn waiting_for_a_thread_under_a_lock_is_told_as_such() {
    let mut finding = deadlock();
    finding.sites[1].access = AccessKind::Wait;
    finding.sites[1].acquires = None;
    finding.sites[1].place = place("Main", 13);
    assert_snapshot!(plain(&finding));
}

#[test]
fn a_blocking_call_says_so_and_why_its_code_runs_at_the_same_time() {
    assert_snapshot!(plain(&samples::compositional()));
}

#[test]
fn a_call_is_told_as_a_call() {
    let mut finding = samples::compositional();
    finding.rule = Rule::UnsafeInterfaceCall;
    finding.sites[0].access = AccessKind::Call;
    finding.sites[0].locks.clear();
    let text = plain(&finding);
    assert!(text.contains("; may run on any thread"), "{text}");
    assert!(text.contains("calls here"), "{text}");
    let without = text::finding(&finding, &NoSources, &Look::plain());
    assert!(without.contains("; may run on any thread"), "{without}");
}

#[test]
fn an_explanation_cuts_nothing_and_says_what_the_rule_means() {
    let mut finding = race();
    let deep = |line| Frame { method: format!("bank.Audit.step{line}()"), place: place("Audit", line) };
    finding.sites[0].trace.splice(1..1, (1..12).map(deep));
    finding.also = (20..24).map(|line| (place("Account", line), place("Main", line))).collect();
    assert_snapshot!(text::explain(&finding, &Bank, &Look::plain()));
}

#[test]
fn an_explanation_with_a_repair_of_its_own_needs_no_general_one() {
    let text = text::explain(&samples::compositional(), &Bank, &Look::plain());
    assert!(text.contains("  fix     call it before src/bank/Account.java:16\n"), "{text}");
    assert!(!text.contains("what repairs it"), "{text}");
}

#[test]
fn odd_findings_are_told_without_driving_the_terminal() {
    for finding in &samples::odd().findings {
        for sources in [&Bank as &dyn Sources, &NoSources] {
            let text = text::explain(finding, sources, &Look::plain());
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
        }
    }
}

#[test]
fn long_things_are_cut_and_counted() {
    let mut finding = race();
    let deep = |line| Frame { method: format!("bank.Audit.step{line}()"), place: place("Audit", line) };
    finding.sites[0].trace.splice(1..1, (1..40).map(deep));
    finding.also = (20..30).map(|line| (place("Account", line), place("Main", line))).collect();
    assert_snapshot!(plain(&finding));
}

#[test]
fn a_site_of_which_little_is_known_is_not_dressed_up() {
    let mut finding = race();
    finding.field = None;
    finding.object = None;
    finding.why.clear();
    finding.also.clear();
    for site in &mut finding.sites {
        site.place.line = 0;
        site.trace.clear();
        site.origin = "a pool thread".into();
        site.started = Some(place("Main", 10));
        site.locks.iter_mut().for_each(|lock| lock.place = Place::default());
    }
    assert_snapshot!(plain(&finding));
}

#[test]
fn a_source_that_was_not_the_one_compiled_gives_no_excerpt() {
    struct Stale;
    impl Sources for Stale {
        fn text(&self, _: &str) -> Option<String> {
            Some("class Account {}\n".into())
        }
        fn display(&self, file: &str) -> String {
            file.into()
        }
    }
    let stale = text::finding(&race(), &Stale, &Look::plain());
    assert_eq!(stale, text::finding(&race(), &NoSources, &Look::plain()));
}

#[test]
fn names_from_class_files_cannot_drive_the_terminal() {
    let mut finding = race();
    let evil = "\u{1b}]0;owned\u{7}\n".to_owned();
    finding.message = evil.clone();
    finding.object = Some(Place { file: evil.clone(), line: 1 });
    finding.why = vec![evil.clone()];
    finding.id = evil.clone();
    let site = &mut finding.sites[0];
    (site.method, site.origin, site.place.file) = (evil.clone(), evil.clone(), evil.clone());
    site.trace[0].method = evil.clone();
    site.locks[0].name = evil.clone();
    assert!(!plain(&finding).contains(['\u{1b}', '\u{7}']));
    let note = Note { kind: evil.clone(), message: evil, count: 2 };
    assert!(!text::note(&note, &Look::plain()).contains(['\u{1b}', '\u{7}', '\n']));
}

#[test]
fn colour_adds_nothing_but_colour() {
    for finding in [race(), deadlock()] {
        let coloured = text::finding(&finding, &Bank, &Look::coloured());
        assert!(coloured.contains("\u{1b}["));
        assert_eq!(without_escapes(&coloured), plain(&finding));
    }
}

#[test]
fn long_source_lines_fit_the_terminal() {
    struct Long;
    impl Sources for Long {
        fn text(&self, _: &str) -> Option<String> {
            Some(format!("{}balance = 1;{}\n", "x(); ".repeat(60), " y();".repeat(60)).repeat(20))
        }
        fn display(&self, file: &str) -> String {
            file.into()
        }
    }
    let text = text::finding(&race(), &Long, &Look::plain().width(80));
    let excerpt = text.lines().find(|line| line.contains("balance = 1")).expect("an excerpt");
    assert!(excerpt.chars().count() <= 80, "{excerpt}");
}

#[test]
fn the_summary_counts_what_is_shown_and_what_is_not() {
    let look = Look::plain();
    let low = |id: usize| Finding { confidence: Confidence::Low, id: id.to_string(), ..race() };
    let mut report = Report { findings: vec![race().into(), deadlock().into()], ..Report::default() };
    assert_eq!(text::summary(&report, Confidence::Medium, &look), "2 findings (1 race, 1 deadlock): 2 high");
    report.findings.extend((0..13).map(low).map(Into::into));
    assert_eq!(
        text::summary(&report, Confidence::Medium, &look),
        "2 findings (1 race, 1 deadlock): 2 high · 13 hidden at low confidence, --all shows them"
    );
    assert_eq!(
        text::summary(&report, Confidence::Low, &look),
        "15 findings (14 races, 1 deadlock): 2 high, 13 low"
    );
    let odd = Report { findings: samples::odd().findings, ..Report::default() };
    assert_eq!(
        text::summary(&odd, Confidence::Low, &look),
        "8 findings (2 races, 1 deadlock, 1 unprotected write, 1 container race, 1 unguarded access, \
         2 blocking calls under a lock): 1 medium, 7 low"
    );
    report.findings = vec![low(1).into()];
    assert_eq!(
        text::summary(&report, Confidence::Medium, &look),
        "no findings · 1 hidden at low confidence, --all shows it"
    );
    assert_eq!(text::summary(&Report::default(), Confidence::Medium, &look), "no findings");
}

#[test]
fn notes_are_counted_by_kind_or_told_one_by_one() {
    let look = Look::plain();
    let notes = samples::report().notes;
    assert_eq!(
        text::note_counts(&notes, &look).as_deref(),
        Some("notes: 1 missing-class, 3 opaque-call · --notes lists them")
    );
    assert_eq!(text::note_counts([], &look), None);
    assert_eq!(
        text::note(&notes[1], &look),
        "note[opaque-call]: java.io.PrintStream.println(int) is not analysed (3 times)"
    );
}

#[test]
fn what_is_wrong_with_the_input_is_told_unasked_but_not_endlessly() {
    let note = |kind: &str, n: usize| Note { kind: kind.into(), message: format!("class {n}"), count: 1 };
    let mut notes = vec![note("opaque-call", 1), note("no-entry-point", 1)];
    notes.extend((0..9).map(|n| note("corrupt-class", n)));
    let (told, counted) = text::most_important(&notes);
    let kinds = |notes: &[&Note]| notes.iter().map(|note| note.kind.clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&told), ["no-entry-point", "corrupt-class", "corrupt-class", "corrupt-class"]);
    assert_eq!(
        text::note_counts(counted, &Look::plain()).as_deref(),
        Some("notes: 6 corrupt-class, 1 opaque-call · --notes lists them")
    );
}

fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    out + rest
}
