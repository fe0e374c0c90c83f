//! `snarl explain`: analyse the program as `check` does, and tell one finding of it in full. Which finding is meant is
//! decided here, how it is told is not.

use crate::{args::Format, begin, check, near, output, settings::Settings};
use anyhow::Result;
use findings::{Finding, Report};
use project::Project;
use report::{json, text};
use std::collections::BTreeSet;
use std::sync::Arc;
use workspace::{Kept, ProjectSources};

pub fn run(id: &str, settings: Settings) -> Result<()> {
    let meter = begin::meter(&settings);
    meter.show("opening the program", 0);
    let project = Arc::new(project::open(&settings.setup.request)?);
    if let Some(finding) = kept(id, &project, &settings) {
        drop(meter);
        return deliver(&finding, &project, &settings);
    }
    let settings = settings.with_all();
    let mut analysed = check::analyse_opened(project, &settings, &meter)?;
    drop(meter);
    let finding = find(id, &analysed.report).map_err(anyhow::Error::msg)?;
    deliver(finding, &analysed.project, &settings)?;
    analysed.keep_state();
    Ok(())
}

/// What a check has kept, if it told the finding in full.
fn kept(id: &str, project: &Project, settings: &Settings) -> Option<Finding> {
    let report = Kept::of(project, &settings.setup)?.report()?;
    let finding = find(id, &report).ok()?;
    finding.confidence.at_least(settings.least).then(|| finding.clone())
}

fn deliver(finding: &Finding, project: &Project, settings: &Settings) -> Result<()> {
    match settings.format {
        Format::Json => output::to_stdout(&json::finding(finding, &ProjectSources::for_machine(project))),
        _ => output::to_stdout(&text::explain(finding, &ProjectSources::for_reader(project), &settings.look)),
    }
}

/// The finding with this id, or the only one whose id begins like this; otherwise what to say instead.
fn find<'r>(id: &str, report: &'r Report) -> Result<&'r Finding, String> {
    let findings = || report.findings.iter().map(Arc::as_ref);
    if let Some(finding) = findings().find(|finding| finding.id == id) {
        return Ok(finding);
    }
    let beginning = id.to_lowercase();
    let meant = || findings().filter(|finding| finding.id.starts_with(&beginning));
    let ids: BTreeSet<&str> = meant().map(|finding| finding.id.as_str()).collect();
    match (meant().next(), ids.len()) {
        (Some(finding), 1) => Ok(finding),
        (Some(_), count) => {
            Err(format!("{count} ids begin with `{id}`: {}", listed(ids.into_iter().collect())))
        }
        (None, _) => Err(unknown(id, report)),
    }
}

fn unknown(id: &str, report: &Report) -> String {
    let ids: Vec<&str> = report.findings.iter().map(|finding| finding.id.as_str()).collect();
    let hint = match near::near(id, &ids) {
        _ if ids.is_empty() => "; there are none in this program".to_owned(),
        near if near.is_empty() => "; `snarl check --all` shows all ids".to_owned(),
        near => format!("; did you mean {}?", near.join(" or ")),
    };
    format!("no finding has the id `{id}`{hint}")
}

/// More do not help to choose.
const MOST: usize = 8;

fn listed(mut ids: Vec<&str>) -> String {
    let more = ids.len().saturating_sub(MOST);
    ids.truncate(MOST);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", ids.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(ids: &[&str]) -> Report {
        let finding = |id: &&str| Arc::new(Finding { id: id.to_string(), ..Finding::default() });
        Report { findings: ids.iter().map(finding).collect(), ..Report::default() }
    }

    fn answer(id: &str, ids: &[&str]) -> String {
        find(id, &report(ids)).map_or_else(|why| why, |finding| format!("found {}", finding.id))
    }

    #[test]
    fn a_finding_is_found_by_its_id_or_a_beginning_that_no_other_has() {
        let ids = ["3cb8837cfb27ba79", "3cb99", "0de724d5ccc38117"];
        assert_eq!(answer("3cb8837cfb27ba79", &ids), "found 3cb8837cfb27ba79");
        assert_eq!(answer("0", &ids), "found 0de724d5ccc38117");
        assert_eq!(answer("0DE7", &ids), "found 0de724d5ccc38117");
        assert_eq!(answer("3cb9", &["3cb9", "3cb99"]), "found 3cb9", "a whole id is no beginning");
    }

    #[test]
    fn what_cannot_be_found_is_answered_with_what_there_is() {
        let ids = ["3cb8837cfb27ba79", "3cb99", "0de724d5ccc38117"];
        assert_eq!(answer("3cb", &ids), "2 ids begin with `3cb`: 3cb8837cfb27ba79, 3cb99");
        assert_eq!(
            answer("0de724d5ccc38118", &ids),
            "no finding has the id `0de724d5ccc38118`; did you mean 0de724d5ccc38117?"
        );
        assert_eq!(answer("fff", &ids), "no finding has the id `fff`; `snarl check --all` shows all ids");
        assert_eq!(answer("fff", &[]), "no finding has the id `fff`; there are none in this program");
    }
}
