//! `snarl diff`: analyse two versions of a program, and tell what the newer one introduces and fixes. The order of
//! events, nothing more.

use crate::args::{AcceptArgs, CheckArgs, DiffArgs, Format, ProgramArgs};
use crate::check::{self, Verdict};
use crate::settings::{Settings, Surroundings};
use crate::sides::{self, Ready, Side};
use crate::{begin, config, output};
use anyhow::{Result, anyhow};
use classfile::ClassSource;
use findings::{Comparison, Note, Renamed, Report};
use project::{Git, Project};
use report::diff::Diff;
use report::{github, gitlab, junit, sarif, text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workspace::{Keep, Program, ProjectSources, Wanted};

/// Notes about what is written in the base, which nobody edits any more.
const OF_THE_PAST: [&str; 4] =
    ["malformed-suppression", "unknown-rule", "unused-assumption", "unused-suppression"];

pub fn run(args: DiffArgs, around: &Surroundings) -> Result<Verdict> {
    let git = Git::around(Path::new("."));
    let (base, head) = sides::sides(&args.base, args.head.as_deref(), git.as_ref())?;
    let build = args.build.clone();
    let mut settings = settings(args, &head, around)?;
    let wanted = settings.setup.request.clone();
    let mut analysed = |side: &Side| {
        let ready = side.ready(&wanted, build.as_deref(), git.as_ref());
        let ready = ready.map_err(|why| anyhow!("cannot analyse {}: {why:#}", side.name()))?;
        settings.setup.request = ready.request.clone();
        version(ready, &settings).map_err(|why| anyhow!("cannot analyse {}: {why}", side.name()))
    };
    let (before, after) = (analysed(&base)?, analysed(&head)?);
    let renamed = Renamed { before: classes(&before.project), after: classes(&after.project) };
    let comparison = Comparison::between(&before.report, &after.report, settings.least, &renamed);
    let notes = notes(&before, &after, &base);
    let diff = Diff {
        comparison: &comparison,
        base: &base.name(),
        head: &head.name(),
        before: &before.sources(),
        after: &after.sources(),
        notes: &notes,
    };
    deliver(&diff, &settings)?;
    let fails = |least| comparison.introduced.iter().any(|finding| finding.confidence.at_least(least));
    Ok(if settings.fail_on.is_some_and(fails) { Verdict::Fail } else { Verdict::Pass })
}

/// One side, analysed.
struct Version {
    ready: Ready,
    project: Arc<Project>,
    report: Report,
}

impl Version {
    fn sources(&self) -> ProjectSources<'_> {
        match &self.ready.root {
            Some(root) => ProjectSources::below(&self.project, root),
            None => ProjectSources::for_machine(&self.project),
        }
    }
}

fn settings(args: DiffArgs, head: &Side, around: &Surroundings) -> Result<Settings> {
    let DiffArgs { base: _, head: _, paths, build: _, settings, keep, format, output, fail_on, show } = args;
    let first = match head {
        Side::Path(path) => path.clone(),
        Side::Revision { .. } | Side::WorkingTree => {
            paths.first().cloned().unwrap_or_else(|| PathBuf::from("."))
        }
    };
    let config = config::at(&first, &settings)?;
    let (program, accept) = (ProgramArgs { paths, settings }, AcceptArgs::default());
    let args = CheckArgs { program, keep, format, output, fail_on, accept, stats: false, show };
    let mut settings = Settings::resolve(args, config, around);
    // What is unpacked is gone soon.
    if settings.setup.keep == Keep::InProject {
        settings.setup.keep = Keep::Nowhere;
    }
    Ok(settings)
}

fn version(ready: Ready, settings: &Settings) -> Result<Version, String> {
    let meter = begin::meter(settings);
    match check::analyse(settings, &meter) {
        Ok(check::Analysed { project, mut report, .. }) => {
            drop(meter);
            Wanted::default().select(&mut report, &Program::of(&project), &[], &settings.setup);
            Ok(Version { ready, project, report })
        }
        Err(why) => Err(ready.plain(&format!("{why:#}"))),
    }
}

fn classes(project: &Project) -> BTreeSet<String> {
    project.app_classes().into_iter().map(|name| name.replace('/', ".")).collect()
}

/// Those of the newer side, and what is otherwise on the older one.
fn notes(before: &Version, after: &Version, base: &Side) -> Vec<Note> {
    let plain = |version: &Version| -> Vec<Note> {
        let notes = version.report.notes.iter();
        notes.map(|note| Note { message: version.ready.plain(&note.message), ..note.clone() }).collect()
    };
    let mut all = plain(after);
    for note in plain(before) {
        if !OF_THE_PAST.contains(&note.kind.as_str()) && !all.contains(&note) {
            all.push(Note { message: format!("in {}: {}", base.name(), note.message), ..note });
        }
    }
    all.sort();
    all
}

fn deliver(diff: &Diff<'_>, settings: &Settings) -> Result<()> {
    let rendered = match settings.format {
        Format::Text => as_text(diff, settings),
        Format::Json => diff.json(),
        Format::Sarif => for_service(sarif::render, diff, settings),
        Format::Github => for_service(github::render, diff, settings),
        Format::Gitlab => for_service(gitlab::render, diff, settings),
        Format::Junit => for_service(junit::render, diff, settings),
    };
    let Some(path) = &settings.output else { return output::to_stdout(&rendered) };
    output::to_file(path, &rendered)?;
    if !settings.quiet {
        output::remark(&format!("{} · written to {}", diff.summary(), path.display()));
    }
    Ok(())
}

/// Services are told what is introduced, and nothing else.
fn for_service(render: check::Renderer, diff: &Diff<'_>, settings: &Settings) -> String {
    let report = Report {
        findings: diff.comparison.introduced.clone(),
        notes: diff.notes.to_vec(),
        ..Report::default()
    };
    render(&report, settings.least, diff.after)
}

fn as_text(diff: &Diff<'_>, settings: &Settings) -> String {
    let mut out = diff.text(&settings.look);
    if settings.quiet {
        return out;
    }
    out.push_str(&check::notes_as_text(diff.notes, settings));
    out.push_str(&text::clean(&diff.summary()));
    out.push('\n');
    out
}
