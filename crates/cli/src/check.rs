//! `snarl check`: open the program, analyse it, print what was found. The order of events, nothing more.

use crate::{args::Format, begin, meter::Meter, output, settings::Settings};
use anyhow::{Result, bail};
use findings::{Confidence, Note, Report};
use project::Project;
use report::{Sources, github, gitlab, json, junit, sarif, stats, text};
use session::Session;
use std::sync::Arc;
use std::time::Instant;
use workspace::{Kept, Program, ProjectSources, Wanted};

#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    Fail,
}

pub fn run(settings: &Settings) -> Result<Verdict> {
    let mut wanted = Wanted::new(&settings.setup)?;
    let meter = begin::meter(settings);
    let mut analysed = analyse(settings, &meter)?;
    drop(meter);
    let began = Instant::now();
    let silent = analysed.kept.as_ref().map_or_else(Vec::new, Kept::silent);
    wanted.recall(silent.clone());
    wanted.select(&mut analysed.report, &Program::of(&analysed.project), &[], &settings.setup);
    analysed.report.stats.seconds.push(("suppressions".to_owned(), began.elapsed().as_secs_f64()));
    if let Some(path) = &settings.write_baseline {
        output::to_file(path, &wanted.accept(&mut analysed.report, &settings.setup))?;
    }
    deliver(&analysed.report, &analysed.project, settings)?;
    analysed.keep_state();
    analysed.tell_late(settings);
    if let Some(kept) = analysed.kept.as_ref().filter(|_| wanted.silent() != silent) {
        kept.keep_silent(&wanted.silent());
    }
    let verdict = verdict(&analysed.report, settings.fail_on);
    analysed.session.take().into_iter().for_each(Session::end);
    Ok(verdict)
}

pub struct Analysed {
    pub project: Arc<Project>,
    pub report: Report,
    /// None if the report was kept.
    session: Option<Session>,
    kept: Option<Kept>,
}

impl Analysed {
    /// What went wrong after the report was told.
    fn tell_late(&self, settings: &Settings) {
        let late = self.kept.iter().flat_map(Kept::notes).filter(|note| !self.report.notes.contains(note));
        late.filter(|_| !settings.quiet).for_each(|note| output::remark(&note.message));
    }

    /// To be done when nobody waits any more.
    pub fn keep_state(&mut self) {
        if let (Some(session), Some(kept)) = (&mut self.session, &self.kept) {
            kept.keep_state(session);
        }
    }
}

fn verdict(report: &Report, fail_on: Option<Confidence>) -> Verdict {
    let fails = |least| report.shown(least).next().is_some();
    if fail_on.is_some_and(fails) { Verdict::Fail } else { Verdict::Pass }
}

pub fn analyse(settings: &Settings, meter: &Meter) -> Result<Analysed> {
    meter.show("opening the program", 0);
    let began = Instant::now();
    let project = Arc::new(project::open(&settings.setup.request)?);
    let opened = began.elapsed().as_secs_f64();
    let mut analysed = analyse_opened(project, settings, meter)?;
    analysed.report.stats.seconds.insert(0, ("open".to_owned(), opened));
    Ok(analysed)
}

/// The program and its analysis, for who asks more of it than findings.
pub fn session(settings: &Settings, meter: &Meter) -> Result<(Arc<Project>, Session)> {
    meter.show("opening the program", 0);
    let project = Arc::new(project::open(&settings.setup.request)?);
    let mut session = workspace::session(project.clone(), &settings.setup, true)?;
    let report = workspace::first(&mut session, None, &begin::progress(settings, meter));
    if let Some(message) = begin::nowhere_to_begin(&report) {
        bail!("{message}");
    }
    Ok((project, session))
}

/// The same for a program that is open already.
pub fn analyse_opened(project: Arc<Project>, settings: &Settings, meter: &Meter) -> Result<Analysed> {
    let kept = Kept::of(&project, &settings.setup);
    let (mut report, session) = match kept.as_ref().and_then(Kept::report) {
        Some(report) => (report, None),
        None => {
            let mut session = workspace::session(project.clone(), &settings.setup, kept.is_some())?;
            let report = workspace::first(&mut session, kept.as_ref(), &begin::progress(settings, meter));
            let report = workspace::with_notes(report, &project);
            if let Some(message) = begin::nowhere_to_begin(&report) {
                bail!("{message}");
            }
            kept.iter().for_each(|kept| kept.keep(&report));
            (report, Some(session))
        }
    };
    report.notes.extend(kept.iter().flat_map(Kept::notes));
    Ok(Analysed { project, report, session, kept })
}

fn deliver(report: &Report, project: &Project, settings: &Settings) -> Result<()> {
    let rendered = match settings.format {
        Format::Text => as_text(report, project, settings),
        Format::Json => as_json(report, project, settings),
        Format::Sarif => for_service(sarif::render, report, project, settings),
        Format::Github => for_service(github::render, report, project, settings),
        Format::Gitlab => for_service(gitlab::render, report, project, settings),
        Format::Junit => for_service(junit::render, report, project, settings),
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
    let render = match (settings.stats, settings.dismissed) {
        (true, _) => json::render_with_times,
        (false, true) => json::render_with_dismissed,
        (false, false) => json::render,
    };
    render(report, settings.least, &ProjectSources::for_machine(project))
}

pub type Renderer = fn(&Report, Confidence, &dyn Sources) -> String;

/// Services know a repository, and not what is checked in it.
fn for_service(render: Renderer, report: &Report, project: &Project, settings: &Settings) -> String {
    render(report, settings.least, &ProjectSources::for_repository(project))
}

/// Findings first; the summary is the last line, where a reader looks first.
fn as_text(report: &Report, project: &Project, settings: &Settings) -> String {
    let sources = ProjectSources::for_reader(project);
    let mut out = String::new();
    for finding in report.shown(settings.least) {
        out.push_str(&text::finding(finding, &sources, &settings.look));
        out.push('\n');
    }
    for one in report.suppressed_from(settings.least).filter(|_| settings.suppressed) {
        out.push_str(&text::suppressed(one, &sources, &settings.look));
        out.push('\n');
    }
    for finding in report.dismissed(settings.least).filter(|_| settings.dismissed) {
        out.push_str(&text::dismissed(finding, &sources, &settings.look));
        out.push('\n');
    }
    if settings.stats {
        out.push_str(&stats::table(&report.stats));
        out.push('\n');
    }
    if settings.quiet {
        return out;
    }
    out.push_str(&notes_as_text(&report.notes, settings));
    out.push_str(&text::summary(report, settings.least, &settings.look));
    out.push('\n');
    out
}

/// All notes, or those that a reader should see and how many others there are.
pub fn notes_as_text(notes: &[Note], settings: &Settings) -> String {
    let mut out = String::new();
    let (told, counted) =
        if settings.notes { (notes.iter().collect(), vec![]) } else { text::most_important(notes) };
    for note in told {
        out.push_str(&text::note(note, &settings.look));
        out.push('\n');
    }
    if let Some(counts) = text::note_counts(counted, &settings.look) {
        out.push_str(&counts);
        out.push('\n');
    }
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
            ..Finding::default()
        };
        Report { findings: vec![finding.into()], ..Report::default() }
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
