//! What the client's user has chosen. Whatever is not understood is as if it had not been said.

use findings::{Confidence, Rule};
use project::Config;
use serde_json::Value;
use session::Engines;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use workspace::{Keep, Setup, annotations, assumptions, configured_engines};

const KEYS: [&str; 9] =
    ["run", "debounce", "engine", "confidence", "rules", "exclude", "guards", "java", "buildTool"];
/// So many letters wrong, and a key is taken for another.
const TYPOS: usize = 2;

#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Findings follow the text while it is typed, not only when it is saved.
    pub on_type: bool,
    pub debounce: Duration,
    pub engine: Option<Engines>,
    pub least: Option<Confidence>,
    /// Rules that are off.
    pub off: BTreeSet<Rule>,
    /// Files in which nothing is shown.
    pub exclude: Vec<String>,
    pub guards: Guards,
    pub java: Option<PathBuf>,
    /// Maven and Gradle may be run for class paths.
    pub asks_build_tools: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guards {
    Off,
    Lens,
    Hint,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            on_type: true,
            // The changes of one key come together; an update is given up for a newer text anyway.
            debounce: Duration::from_millis(2),
            engine: None,
            least: None,
            off: BTreeSet::new(),
            exclude: Vec::new(),
            guards: Guards::Off,
            java: None,
            asks_build_tools: true,
        }
    }
}

impl Settings {
    /// From the section `snarl` of the client's settings.
    pub fn of(section: &Value) -> Settings {
        let unless_told = Settings::default();
        let text = |key: &str| section.get(key).and_then(Value::as_str);
        let debounce = section.get("debounce").and_then(Value::as_u64);
        let rules = section.get("rules").and_then(Value::as_object).into_iter().flatten();
        let off = rules.filter(|(_, on)| matches!(on, Value::Bool(false)) || on.as_str() == Some("off"));
        let exclude = section.get("exclude").and_then(Value::as_array).into_iter().flatten();
        Settings {
            on_type: text("run") != Some("save"),
            debounce: debounce.map_or(unless_told.debounce, |ms| Duration::from_millis(ms.min(60_000))),
            engine: match text("engine") {
                Some("both") => Some(Engines::Both),
                Some("whole-program") => Some(Engines::WholeProgram),
                Some("compositional") => Some(Engines::Compositional),
                _ => None,
            },
            least: text("confidence").and_then(Confidence::named),
            off: off.filter_map(|(id, _)| Rule::named(id)).collect(),
            exclude: exclude.filter_map(|glob| glob.as_str().map(str::to_owned)).collect(),
            guards: match text("guards") {
                Some("lens") => Guards::Lens,
                Some("hint") => Guards::Hint,
                _ => Guards::Off,
            },
            java: text("java").filter(|path| !path.is_empty()).map(PathBuf::from),
            asks_build_tools: text("buildTool") != Some("off"),
        }
    }

    /// What is said in a section and means nothing. Keys that look like none of ours are passed over: clients keep their
    /// own there.
    pub fn complaints(section: &Value) -> Vec<String> {
        const VALUES: [(&str, &[&str]); 5] = [
            ("run", &["type", "save"]),
            ("engine", &["both", "whole-program", "compositional"]),
            ("confidence", &["high", "medium", "low"]),
            ("guards", &["off", "lens", "hint"]),
            ("buildTool", &["ask", "off"]),
        ];
        let mut complaints = Vec::new();
        for (key, known) in VALUES {
            let told = section.get(key).filter(|told| !told.is_null() && told.as_str() != Some(""));
            if let Some(told) = told.filter(|told| !told.as_str().is_some_and(|one| known.contains(&one))) {
                complaints
                    .push(format!("the setting `{key}` cannot be {told}: it is one of {}", known.join(", ")));
            }
        }
        let rules = section.get("rules").and_then(Value::as_object).into_iter().flatten();
        let unknown = rules.filter(|(id, _)| Rule::named(id).is_none());
        complaints
            .extend(unknown.map(|(id, _)| format!("the setting `rules` names `{id}`, which is no rule")));
        let keys = section.as_object().into_iter().flat_map(|all| all.keys());
        for key in keys.filter(|key| !KEYS.contains(&key.as_str())) {
            let is_close = |known: &&&str| strsim::damerau_levenshtein(key, known) <= TYPOS;
            if let Some(known) = KEYS.iter().find(is_close) {
                complaints.push(format!("the setting `{key}` is unknown: is `{known}` meant?"));
            }
        }
        complaints
    }

    /// The least confidence that is shown, given what the project says.
    pub fn least(&self, config: &Config) -> Confidence {
        self.least.or(config.least).unwrap_or(Confidence::Medium)
    }

    /// Whether another analysis is needed for these than for those.
    pub fn analyses_as(&self, other: &Settings) -> bool {
        (self.engine, &self.java) == (other.engine, &other.java)
    }

    /// What decides the analysis of the project in this directory.
    pub fn setup(&self, root: &Path, config: Config) -> Setup {
        let paths = if config.paths.is_empty() { vec![root.to_path_buf()] } else { config.paths.clone() };
        Setup {
            request: project::Request {
                paths,
                classpath: config.classpath.clone(),
                jdk: self.java.clone().or_else(|| config.jdk.clone()),
            },
            options: session::Options {
                full_jdk: config.full_jdk,
                exclude: config.exclude.clone(),
                mains: config.main.clone(),
                entries: config.entry.clone(),
                // What is less sure than that is not told in full; the editor may be asked for all of it.
                least: self.least(&config),
                engines: self.engine.unwrap_or_else(|| configured_engines(config.engine)),
                annotations: annotations(&config),
                assume: assumptions(&config),
                budget: config.budget.unwrap_or_default(),
                dependency_budget: None,
                threads: 0,
                follow: true,
                keep: false,
            },
            models: config.models.clone(),
            keep: Keep::InProject,
            baseline: config.baseline.clone(),
            config,
            measured: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_means_nothing_is_complained_about() {
        let section = json!({"confidence": "hihg", "run": 3, "guards": "lens", "engine": null, "rules": {"raec": false}});
        let all = Settings::complaints(&section).join("\n");
        assert!(
            all.contains("`confidence` cannot be \"hihg\"") && all.contains("`run` cannot be 3"),
            "{all}"
        );
        assert!(all.contains("`raec`") && !all.contains("guards") && !all.contains("engine"), "{all}");
        let misspelt = Settings::complaints(&json!({"confidense": "high", "buildtool": "off"}));
        assert!(misspelt[0].ends_with("is `buildTool` meant?"), "{misspelt:?}");
        assert!(misspelt[1].ends_with("is `confidence` meant?"), "{misspelt:?}");
        let others = json!({"trace": {"server": "off"}, "path": "/snarl", "rules": {"race": false}});
        assert!(Settings::complaints(&others).is_empty());
        assert!(Settings::complaints(&json!(null)).is_empty());
    }

    #[test]
    fn what_is_not_said_or_not_understood_is_as_usual() {
        for section in [json!(null), json!({}), json!([]), json!({"run": 3, "debounce": -1, "engine": "x"})] {
            assert_eq!(Settings::of(&section), Settings::default(), "{section}");
        }
    }

    #[test]
    fn what_is_said_counts() {
        let settings = Settings::of(&json!({
            "run": "save", "debounce": 200, "engine": "compositional", "confidence": "high",
            "rules": {"race": false, "deadlock": true, "guarded-by": "off", "nothing": false},
            "exclude": ["**/gen/**", 3], "guards": "lens", "java": "/jdk", "buildTool": "off"
        }));
        assert!(!settings.on_type && !settings.asks_build_tools);
        assert_eq!(
            (settings.debounce, settings.engine),
            (Duration::from_millis(200), Some(Engines::Compositional))
        );
        assert_eq!(settings.off, BTreeSet::from([Rule::Race, Rule::GuardedBy]));
        assert_eq!((settings.guards, settings.exclude.len()), (Guards::Lens, 1));
        assert_eq!((settings.least, settings.java), (Some(Confidence::High), Some(PathBuf::from("/jdk"))));
    }
}
