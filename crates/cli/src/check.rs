//! `snarl check`: open the program, analyse it, print what was found. The order of events, nothing more.

use crate::{args::Format, meter::Meter, output, settings::Settings, sources::ProjectSources};
use anyhow::{Context, Result, bail};
use findings::{Confidence, Note, Report};
use project::Project;
use report::{json, stats, text};
use session::{ENTRY_POINTS, Session};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Kinds of notes after which there is no report: an empty one would look like a clean program.
const NOWHERE_TO_BEGIN: [&str; 2] = ["no-entry-point", "unknown-entry-point"];

/// Damage that may be why there is nowhere to begin.
const DAMAGE: [&str; 3] = ["corrupt-archive", "corrupt-class", "corrupt-entry"];

/// More take a while, and are seldom meant.
const MANY_ENTRY_POINTS: u64 = 8;

#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Fail,
}

pub fn run(settings: &Settings) -> Result<Verdict> {
    let meter = if settings.progress { Meter::on_terminal() } else { Meter::hidden() };
    let (project, report) = analyse(settings, &meter)?;
    drop(meter);
    deliver(&report, &project, settings)?;
    Ok(verdict(&report, settings.fail_on))
}

fn verdict(report: &Report, fail_on: Option<Confidence>) -> Verdict {
    let fails = |least| report.shown(least).next().is_some();
    if fail_on.is_some_and(fails) { Verdict::Fail } else { Verdict::Pass }
}

fn analyse(settings: &Settings, meter: &Meter) -> Result<(Arc<Project>, Report)> {
    meter.show("opening the program", 0);
    let began = Instant::now();
    let project = Arc::new(project::open(&settings.request)?);
    let opened = began.elapsed().as_secs_f64();

    let mut session = Session::new(project.clone(), settings.options.clone());
    add_models(&mut session, &settings.models)?;
    let mut report = session.check(&|stage, done| {
        meter.show(stage, done);
        if stage == ENTRY_POINTS && done > MANY_ENTRY_POINTS && settings.announce {
            output::remark(&format!("analysing {done} entry points; --main picks one"));
        }
    });
    report.notes.extend(project.notes());
    report.sort();
    if let Some(message) = nowhere_to_begin(&report) {
        bail!("{message}");
    }
    report.stats.seconds.insert(0, ("open".to_owned(), opened));
    Ok((project, report))
}

pub fn add_models(session: &mut Session, files: &[PathBuf]) -> Result<()> {
    for path in files {
        let shown = path.display().to_string();
        let text = fs::read_to_string(path).with_context(|| format!("cannot read models from {shown}"))?;
        session.add_models(&shown, &text)?;
    }
    Ok(())
}

/// Why nothing was analysed: what cannot be read first, which is the reason then, and whatever else is wrong with the
/// input last.
pub fn nowhere_to_begin(report: &Report) -> Option<String> {
    let (wrong, others): (Vec<&Note>, Vec<&Note>) =
        report.notes.iter().partition(|note| NOWHERE_TO_BEGIN.contains(&note.kind.as_str()));
    if wrong.is_empty() {
        return None;
    }
    let others: Vec<Note> = others.into_iter().cloned().collect();
    // A name that nothing has is wrong by itself.
    let is_searched = wrong.iter().all(|note| note.kind == "no-entry-point");
    let is_damage = |note: &&Note| is_searched && DAMAGE.contains(&note.kind.as_str());
    let (damage, others): (Vec<&Note>, Vec<&Note>) =
        text::most_important(&others).0.into_iter().partition(is_damage);
    let mut lines: Vec<String> =
        damage.into_iter().chain(wrong).map(|note| text::clean(&note.message)).collect();
    lines.extend(others.into_iter().map(|note| text::note(note, &text::Look::plain())));
    Some(lines.join("\n"))
}

fn deliver(report: &Report, project: &Project, settings: &Settings) -> Result<()> {
    let rendered = match settings.format {
        Format::Text => as_text(report, project, settings),
        Format::Json => as_json(report, project, settings),
    };
    let Some(path) = &settings.output else { return output::to_stdout(&rendered) };
    output::to_file(path, &rendered)?;
    if !settings.quiet {
        let summary = text::summary(report, settings.least, &text::Look::plain());
        output::remark(&format!("{summary} · written to {}", path.display()));
    }
    Ok(())
}

fn as_json(report: &Report, project: &Project, settings: &Settings) -> String {
    let render = if settings.stats { json::render_with_times } else { json::render };
    render(report, settings.least, &ProjectSources::for_machine(project))
}

/// Findings first; the summary is the last line, where a reader looks first.
fn as_text(report: &Report, project: &Project, settings: &Settings) -> String {
    let sources = ProjectSources::for_reader(project);
    let mut out = String::new();
    for finding in report.shown(settings.least) {
        out.push_str(&text::finding(finding, &sources, &settings.look));
        out.push('\n');
    }
    if settings.stats {
        out.push_str(&stats::table(&report.stats));
        out.push('\n');
    }
    if settings.quiet {
        return out;
    }
    let (told, counted) = if settings.notes {
        (report.notes.iter().collect(), vec![])
    } else {
        text::most_important(&report.notes)
    };
    for note in told {
        out.push_str(&text::note(note, &settings.look));
        out.push('\n');
    }
    if let Some(counts) = text::note_counts(counted, &settings.look) {
        out.push_str(&counts);
        out.push('\n');
    }
    out.push_str(&text::summary(report, settings.least, &settings.look));
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::{Finding, Rule};

    fn report(confidence: Confidence) -> Report {
        let finding = Finding {
            id: String::new(),
            rule: Rule::Race,
            confidence,
            engines: vec![],
            message: String::new(),
            field: None,
            object: None,
            sites: vec![],
            why: vec![],
            fields: Vec::new(),
            also: vec![],
        };
        Report { findings: vec![finding], ..Report::default() }
    }

    #[test]
    fn a_run_fails_on_findings_at_or_above_the_level() {
        use Confidence::*;
        for (found, fail_on, expected) in [
            (High, Some(High), Verdict::Fail),
            (High, Some(Medium), Verdict::Fail),
            (Medium, Some(High), Verdict::Pass),
            (Medium, Some(Medium), Verdict::Fail),
            (Low, Some(Medium), Verdict::Pass),
            (Low, Some(Low), Verdict::Fail),
            (High, None, Verdict::Pass),
        ] {
            assert_eq!(verdict(&report(found), fail_on), expected, "{found:?} with {fail_on:?}");
        }
        assert_eq!(verdict(&Report::default(), Some(Low)), Verdict::Pass);
    }
}
