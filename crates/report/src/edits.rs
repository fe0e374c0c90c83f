//! How long updates took, as a table or as JSON. Knows nothing of what was edited.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The slowest edits that are named.
const NAMED: usize = 5;

/// What a series of edits and of their undoing showed.
pub struct Edits {
    pub edits: usize,
    /// States compared with a run from nothing.
    pub compared: usize,
    /// Seconds of a run from nothing.
    pub from_nothing: f64,
    pub peak_megabytes: Option<u64>,
    pub deletion: Series,
    pub insertion: Series,
}

/// How long updates took, in seconds.
#[derive(Default)]
pub struct Series {
    updates: Vec<(f64, String)>,
    stages: BTreeMap<String, Vec<f64>>,
    from_scratch: usize,
}

impl Series {
    pub fn add(&mut self, what: &str, seconds: Vec<(String, f64)>, from_scratch: bool) {
        self.updates.push((seconds.iter().map(|lap| lap.1).sum(), what.to_string()));
        self.from_scratch += usize::from(from_scratch);
        for (stage, seconds) in seconds {
            self.stages.entry(stage).or_default().push(seconds);
        }
    }

    fn seconds(&self) -> Vec<f64> {
        self.updates.iter().map(|update| update.0).collect()
    }
}

impl Edits {
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mean = mean(self.deletion.updates.iter().chain(&self.insertion.updates).map(|update| update.0));
        let ratio = if mean > 0.0 { self.from_nothing / mean } else { 0.0 };
        let _ = writeln!(
            out,
            "{} edits; from nothing {:.0} ms, {ratio:.0} times the mean edit; {} compared with a run from nothing",
            self.edits,
            self.from_nothing * 1e3,
            self.compared
        );
        if let Some(megabytes) = self.peak_megabytes {
            let _ = writeln!(out, "peak memory {megabytes} MB");
        }
        let _ = writeln!(
            out,
            "\n{:<28}{:>9}{:>9}{:>9}{:>9}{:>9}   milliseconds",
            "", "mean", "p50", "p95", "p99", "max"
        );
        for (name, series) in [("deletion", &self.deletion), ("insertion", &self.insertion)] {
            row(&mut out, name, series.seconds());
            for (stage, seconds) in &series.stages {
                row(&mut out, &format!("  {stage}"), seconds.clone());
            }
        }
        for (name, series) in [("deletions", &self.deletion), ("insertions", &self.insertion)] {
            if series.from_scratch > 0 {
                let _ = writeln!(
                    out,
                    "\n{} {name} were followed by solving everything anew",
                    series.from_scratch
                );
            }
            let _ = writeln!(out, "\nslowest {name}");
            let mut slowest: Vec<&(f64, String)> = series.updates.iter().collect();
            slowest.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (seconds, what) in slowest.into_iter().take(NAMED) {
                let _ = writeln!(out, "{:>9.2}  {what}", seconds * 1e3);
            }
        }
        out
    }

    pub fn json(&self) -> String {
        let side = |series: &Series| {
            let stages: Map<String, Value> = series
                .stages
                .iter()
                .map(|(stage, seconds)| (stage.clone(), figures(seconds.clone())))
                .collect();
            let all = figures(series.seconds());
            json!({ "all": all, "stages": stages, "from_scratch": series.from_scratch })
        };
        let value = json!({
            "schema": 1,
            "edits": self.edits,
            "compared": self.compared,
            "from_nothing_ms": self.from_nothing * 1e3,
            "peak_mb": self.peak_megabytes,
            "deletion": side(&self.deletion),
            "insertion": side(&self.insertion),
        });
        format!("{value:#}\n")
    }
}

fn row(out: &mut String, name: &str, mut seconds: Vec<f64>) {
    seconds.sort_by(f64::total_cmp);
    let at = |percent| percentile(&seconds, percent) * 1e3;
    let mean = mean(seconds.iter().copied()) * 1e3;
    let _ =
        writeln!(out, "{name:<28}{mean:>9.3}{:>9.3}{:>9.3}{:>9.3}{:>9.3}", at(50), at(95), at(99), at(100));
}

fn figures(mut seconds: Vec<f64>) -> Value {
    seconds.sort_by(f64::total_cmp);
    let at = |percent| percentile(&seconds, percent) * 1e3;
    json!({
        "count": seconds.len(),
        "mean_ms": mean(seconds.iter().copied()) * 1e3,
        "p50_ms": at(50),
        "p95_ms": at(95),
        "p99_ms": at(99),
        "max_ms": at(100),
    })
}

fn mean(seconds: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = seconds.fold((0.0, 0u32), |(sum, count), next| (sum + next, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// Of sorted numbers; 0 of none.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    sorted.len().checked_sub(1).map_or(0.0, |last| sorted[last * percent / 100])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_members() {
        let numbers: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!((percentile(&numbers, 50), percentile(&numbers, 99)), (50.0, 99.0));
        assert_eq!((percentile(&numbers, 100), percentile(&[], 50)), (100.0, 0.0));
    }
}
