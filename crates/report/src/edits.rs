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
    /// What was kept after the first few edits, and at the end.
    pub early: Option<Kept>,
    pub late: Kept,
    pub deletion: Series,
    pub insertion: Series,
}

/// What a session holds after some edits.
#[derive(Default)]
pub struct Kept {
    pub edits: usize,
    /// Of memory.
    pub megabytes: Option<u64>,
    /// How many entries each table has.
    pub entries: Vec<(String, usize)>,
}

impl Kept {
    fn total(&self) -> usize {
        self.entries.iter().map(|table| table.1).sum()
    }
}

/// How long updates took.
#[derive(Default)]
pub struct Series {
    updates: Vec<Update>,
    from_scratch: usize,
}

/// One of them.
pub struct Update {
    pub what: String,
    /// By stage.
    pub seconds: Vec<(String, f64)>,
    /// How much was looked at again.
    pub redone: Vec<(&'static str, u64)>,
    pub from_scratch: bool,
}

impl Update {
    fn all(&self) -> f64 {
        self.seconds.iter().map(|lap| lap.1).sum()
    }
}

impl Series {
    pub fn add(&mut self, update: Update) {
        self.from_scratch += usize::from(update.from_scratch);
        self.updates.push(update);
    }

    fn seconds(&self) -> Vec<f64> {
        self.updates.iter().map(Update::all).collect()
    }

    fn stages(&self) -> BTreeMap<&str, Vec<f64>> {
        let mut stages: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (stage, seconds) in self.updates.iter().flat_map(|update| &update.seconds) {
            stages.entry(stage).or_default().push(*seconds);
        }
        stages
    }

    fn slowest(&self) -> impl Iterator<Item = &Update> {
        let mut slowest: Vec<&Update> = self.updates.iter().collect();
        slowest.sort_by(|a, b| b.all().total_cmp(&a.all()));
        slowest.into_iter().take(NAMED)
    }

    /// The first and the last tenth.
    fn ends(&self) -> [Vec<f64>; 2] {
        let (seconds, tenth) = (self.seconds(), self.updates.len().div_ceil(10));
        [seconds[..tenth].to_vec(), seconds[seconds.len() - tenth..].to_vec()]
    }
}

impl Edits {
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mean = mean(self.deletion.updates.iter().chain(&self.insertion.updates).map(Update::all));
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
        for kept in self.early.iter().chain([&self.late]) {
            let memory = kept.megabytes.map_or(String::new(), |megabytes| format!("memory {megabytes} MB, "));
            let _ = writeln!(out, "after {} edits {memory}{} entries kept", kept.edits, kept.total());
        }
        let _ = writeln!(
            out,
            "\n{:<28}{:>9}{:>9}{:>9}{:>9}{:>9}   milliseconds",
            "", "mean", "p50", "p95", "p99", "max"
        );
        for (name, series) in [("deletion", &self.deletion), ("insertion", &self.insertion)] {
            row(&mut out, name, series.seconds());
            for (stage, seconds) in series.stages() {
                row(&mut out, &format!("  {stage}"), seconds);
            }
        }
        for (name, seconds) in ["first tenth", "last tenth"].into_iter().zip(self.ends()) {
            row(&mut out, name, seconds);
        }
        self.put_grown(&mut out);
        for (name, series) in [("deletions", &self.deletion), ("insertions", &self.insertion)] {
            if series.from_scratch > 0 {
                let _ = writeln!(
                    out,
                    "\n{} {name} were followed by solving everything anew",
                    series.from_scratch
                );
            }
            let _ = writeln!(out, "\nslowest {name}");
            for update in series.slowest() {
                put_profile(&mut out, update);
            }
        }
        out
    }

    /// Of all edits: do the last take longer than the first?
    fn ends(&self) -> [Vec<f64>; 2] {
        let ([mut first, mut last], [too, also]) = (self.deletion.ends(), self.insertion.ends());
        first.extend(too);
        last.extend(also);
        [first, last]
    }

    /// Tables that grew the most.
    fn put_grown(&self, out: &mut String) {
        let Some(early) = &self.early else { return };
        let before: BTreeMap<&str, usize> =
            early.entries.iter().map(|(name, entries)| (name.as_str(), *entries)).collect();
        let known = |name: &str| before.get(name).copied().unwrap_or_default();
        let grown = |(name, entries): &&(String, usize)| *entries > known(name);
        let mut grown: Vec<&(String, usize)> = self.late.entries.iter().filter(grown).collect();
        grown.sort_by_key(|(name, entries)| known(name).wrapping_sub(*entries));
        if !grown.is_empty() {
            let _ = writeln!(out, "\nentries that became more");
        }
        for (name, entries) in grown.into_iter().take(NAMED) {
            let _ = writeln!(out, "{:>9}  {name}, from {}", entries - known(name), known(name));
        }
    }

    pub fn json(&self) -> String {
        let side = |series: &Series| {
            let stages: Map<String, Value> = series
                .stages()
                .into_iter()
                .map(|(stage, seconds)| (stage.to_string(), figures(seconds)))
                .collect();
            let all = figures(series.seconds());
            let slowest: Vec<Value> = series.slowest().map(profile).collect();
            json!({ "all": all, "stages": stages, "from_scratch": series.from_scratch, "slowest": slowest })
        };
        let kept = |kept: &Kept| {
            let entries: Map<String, Value> =
                kept.entries.iter().map(|(name, entries)| (name.clone(), json!(entries))).collect();
            json!({ "edits": kept.edits, "memory_mb": kept.megabytes, "entries": entries })
        };
        let [first, last] = self.ends();
        let value = json!({
            "schema": 1,
            "edits": self.edits,
            "compared": self.compared,
            "from_nothing_ms": self.from_nothing * 1e3,
            "peak_mb": self.peak_megabytes,
            "deletion": side(&self.deletion),
            "insertion": side(&self.insertion),
            "first_tenth": figures(first),
            "last_tenth": figures(last),
            "kept_early": self.early.as_ref().map(kept),
            "kept": kept(&self.late),
        });
        format!("{value:#}\n")
    }
}

/// What was edited, and on the next line what took how long and why.
fn put_profile(out: &mut String, update: &Update) {
    let _ = writeln!(out, "{:>9.2}  {}", update.all() * 1e3, update.what);
    let is_long = |lap: &&(String, f64)| lap.1 * 20.0 >= update.all();
    let laps = update.seconds.iter().filter(is_long);
    let laps: Vec<String> = laps.map(|(stage, seconds)| format!("{stage} {:.2}", seconds * 1e3)).collect();
    let redone: Vec<String> = update.redone.iter().map(|(what, count)| format!("{count} {what}")).collect();
    let anew = if update.from_scratch { "; solved anew" } else { "" };
    let _ = writeln!(out, "           {}; redone {}{anew}", laps.join(", "), redone.join(", "));
}

fn profile(update: &Update) -> Value {
    let stages: Map<String, Value> =
        update.seconds.iter().map(|(stage, seconds)| (stage.clone(), json!(seconds * 1e3))).collect();
    let redone: Map<String, Value> =
        update.redone.iter().map(|(what, count)| (what.to_string(), json!(count))).collect();
    json!({
        "what": update.what,
        "ms": update.all() * 1e3,
        "stages_ms": stages,
        "redone": redone,
        "from_scratch": update.from_scratch,
    })
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
