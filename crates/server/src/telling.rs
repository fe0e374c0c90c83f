//! From findings to what a client is told: which are shown, where they are underlined, and what has changed since. Knows
//! nothing of how they were found.

use crate::analyst::Analyst;
use crate::settings::Settings;
use crate::told::{Diagnostic, Open, Pictures, Told, words};
use findings::{Finding, FindingsDelta, Report};
use project::Project;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

#[derive(Default)]
pub struct Telling {
    pub pictures: Pictures,
    /// What was shown last.
    pub last: Vec<Arc<Finding>>,
    /// That was of everything that is to be analysed.
    was_whole: bool,
    /// What the last change that changed any finding did.
    delta: Option<Value>,
}

impl Telling {
    pub fn tell(
        &mut self,
        mut shown: Vec<Arc<Finding>>,
        project: &Project,
        is_whole: bool,
        mut cost: Cost,
        analyst: &Analyst,
    ) -> Told {
        let telling = Instant::now();
        let open = Open { project, texts: &analyst.open };
        self.pictures.draw(&shown, &open);
        let (mut findings, mut diagnostics) = (Vec::new(), BTreeMap::<PathBuf, Vec<Diagnostic>>::new());
        shown.retain(|finding| {
            let Some(picture) = self.pictures.of(finding) else { return false };
            let is_off = analyst.settings.off.contains(&finding.rule);
            let is_shown = !is_off && !is_excluded(&picture.marks, &analyst.settings, project);
            if is_shown {
                findings.push(picture.value.clone());
                for (path, mark) in &picture.marks {
                    diagnostics.entry(path.clone()).or_default().push(mark.clone());
                }
            }
            is_shown
        });
        diagnostics.values_mut().for_each(|all| all.sort_by_key(|one| one.range.start));
        let now = Report { findings: shown.clone(), ..Report::default() };
        let before = Report { findings: std::mem::replace(&mut self.last, shown), ..Report::default() };
        let delta = FindingsDelta::between(&before, &now);
        cost.add("publish", telling.elapsed().as_secs_f64());
        let milliseconds = cost.milliseconds();
        let was_whole = std::mem::replace(&mut self.was_whole, is_whole);
        if is_whole && was_whole && (!delta.introduced.is_empty() || !delta.fixed.is_empty()) {
            self.delta = Some(self.delta(&delta, milliseconds, &open));
        }
        Told {
            findings,
            diagnostics,
            texts: analyst.open.clone(),
            delta: self.delta.clone(),
            milliseconds,
            stages: cost.stages,
            is_whole,
        }
    }

    fn delta(&self, delta: &FindingsDelta, milliseconds: f64, open: &Open<'_>) -> Value {
        let mut gone = Pictures::default();
        gone.draw(&delta.fixed, open);
        let all = |findings: &[Arc<Finding>], pictures: &Pictures| {
            let pictures = findings.iter().filter_map(|finding| pictures.of(finding));
            pictures.map(|picture| Value::clone(&picture.value)).collect::<Vec<_>>()
        };
        json!({
            "schema": 1, "text": words(delta), "milliseconds": milliseconds,
            "introduced": all(&delta.introduced, &self.pictures), "fixed": all(&delta.fixed, &gone),
        })
    }
}

/// Findings of which every place is in a file that is left out.
fn is_excluded(marks: &[(PathBuf, Diagnostic)], settings: &Settings, project: &Project) -> bool {
    let is_out = |path: &Path| {
        let shown = project.shown(path);
        settings.exclude.iter().any(|glob| findings::is_like(glob, &shown))
    };
    !marks.is_empty() && marks.iter().all(|(path, _)| is_out(path))
}

/// Seconds of an update, by stage.
#[derive(Clone)]
pub struct Cost {
    began: Instant,
    stages: Vec<(String, f64)>,
}

impl Cost {
    pub fn begin() -> Cost {
        Cost { began: Instant::now(), stages: Vec::new() }
    }

    pub fn add(&mut self, stage: &str, seconds: f64) {
        self.stages.push((stage.to_owned(), seconds * 1e3));
    }

    fn milliseconds(&self) -> f64 {
        self.began.elapsed().as_secs_f64() * 1e3
    }
}
