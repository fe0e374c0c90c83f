//! The text of `snarl.toml` to a [`Config`], or to the place of its first mistake and what may have been meant. Touches
//! no file.

use super::{Config, Engines, FailOn, Level};
use crate::Error;
use findings::{Confidence, Covers, Pattern, Rule, Suppression};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 17] = [
    "paths",
    "classpath",
    "main",
    "entry",
    "exclude",
    "models",
    "jdk",
    "full-jdk",
    "engine",
    "budget",
    "min-confidence",
    "fail-on",
    "baseline",
    "rules",
    "suppress",
    "annotations",
    "assume",
];
const ASSUME: [&str; 2] = ["confined", "never-parallel"];
const SUPPRESS: [&str; 6] = ["rule", "class", "field", "method", "file", "reason"];
/// What an annotation can say.
pub const MEANINGS: [&str; 15] = [
    "thread-safe",
    "not-thread-safe",
    "immutable",
    "guarded-by",
    "thread-confined",
    "ui-thread",
    "worker-thread",
    "functional",
    "returns-ownership",
    "visible-for-testing",
    "any-thread",
    "singleton",
    "scoped",
    "spawned",
    "once",
];
const LEVELS: [(&str, Level); 5] = [
    ("on", Level::From(Confidence::Low)),
    ("off", Level::Off),
    ("high", Level::From(Confidence::High)),
    ("medium", Level::From(Confidence::Medium)),
    ("low", Level::From(Confidence::Low)),
];
const CONFIDENCES: [(&str, Confidence); 3] =
    [("high", Confidence::High), ("medium", Confidence::Medium), ("low", Confidence::Low)];
const FAIL_ON: [(&str, FailOn); 4] = [
    ("high", FailOn::From(Confidence::High)),
    ("medium", FailOn::From(Confidence::Medium)),
    ("low", FailOn::From(Confidence::Low)),
    ("never", FailOn::Never),
];
const ENGINES: [(&str, Engines); 3] = [
    ("both", Engines::Both),
    ("whole-program", Engines::WholeProgram),
    ("compositional", Engines::Compositional),
];

type Key<'t> = Spanned<Cow<'t, str>>;
type Value<'t> = Spanned<DeValue<'t>>;
type Read<T> = Result<T, Error>;

pub(super) fn read(file: &Path, text: &str) -> Read<Config> {
    let reader = Reader { file, text };
    let document = DeTable::parse(text)
        .map_err(|error| reader.error(error.span().map_or(0, |span| span.start), error.message()))?;
    let mut config = Config::default();
    for (key, value) in document.get_ref() {
        reader.entry(key, value, &mut config)?;
    }
    Ok(config)
}

struct Reader<'t> {
    file: &'t Path,
    text: &'t str,
}

impl Reader<'_> {
    fn entry(&self, key: &Key, value: &Value, config: &mut Config) -> Read<()> {
        match key.get_ref().as_ref() {
            "paths" => config.paths = self.paths(value)?,
            "classpath" => config.classpath = self.paths(value)?,
            "main" => config.main = self.strings(value)?,
            "entry" => config.entry = self.strings(value)?,
            "exclude" => config.exclude = self.strings(value)?,
            "models" => config.models = self.paths(value)?,
            "jdk" => config.jdk = Some(self.path(value)?),
            "full-jdk" => config.full_jdk = self.boolean(value)?,
            "engine" => config.engine = self.one_of(value, &ENGINES)?,
            "budget" => config.budget = Some(self.number(value)?),
            "min-confidence" => config.least = Some(self.one_of(value, &CONFIDENCES)?),
            "fail-on" => config.fail_on = Some(self.one_of(value, &FAIL_ON)?),
            "baseline" => config.baseline = Some(self.path(value)?),
            "rules" => {
                for (key, value) in self.table(value)? {
                    config
                        .rules
                        .insert(self.rule(key.get_ref(), key.span().start)?, self.one_of(value, &LEVELS)?);
                }
            }
            "suppress" => {
                let tables = value.get_ref().as_array();
                let tables = tables.ok_or_else(|| self.error(value.span().start, "write `[[suppress]]`"))?;
                let entries = tables.iter().map(|entry| self.suppression(entry));
                config.suppressions = entries.collect::<Read<_>>()?;
            }
            "annotations" => {
                for (key, value) in self.table(value)? {
                    self.known(key, &MEANINGS)?;
                    config.annotations.insert(key.get_ref().to_string(), self.strings(value)?);
                }
            }
            "assume" => {
                for (key, value) in self.table(value)? {
                    match key.get_ref().as_ref() {
                        "confined" => config.assume.confined = self.strings(value)?,
                        "never-parallel" => config.assume.never_parallel = self.groups(value)?,
                        _ => self.known(key, &ASSUME)?,
                    }
                }
            }
            _ => self.known(key, &KEYS)?,
        }
        Ok(())
    }

    fn suppression(&self, entry: &Value) -> Read<Suppression> {
        let at = entry.span().start;
        let (mut pattern, mut rules, mut reason) = (Pattern::default(), None, String::new());
        for (key, value) in self.table(entry)? {
            match key.get_ref().as_ref() {
                "rule" => rules = Some(self.rules(value)?),
                "class" => pattern.class = Some(self.string(value)?),
                "field" => pattern.field = Some(self.string(value)?),
                "method" => pattern.method = Some(self.string(value)?),
                "file" => pattern.file = Some(self.string(value)?),
                "reason" => reason = self.string(value)?,
                _ => self.known(key, &SUPPRESS)?,
            }
        }
        let rules =
            rules.ok_or_else(|| self.error(at, "`rule` is missing: a rule, a list of them, or `all`"))?;
        if reason.trim().is_empty() {
            return Err(self.error(at, "`reason` is missing: say why these findings are not to be told"));
        }
        if pattern == Pattern::default() {
            let message =
                "name a `class`, `field`, `method` or `file`; `[rules]` turns a rule off everywhere";
            return Err(self.error(at, message));
        }
        let (line, _) = self.position(at);
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        Ok(Suppression {
            rules,
            covers: vec![Covers::Like(pattern)],
            reason,
            place: format!("{name}:{line}"),
        })
    }

    /// One, several, or `all`, which is none in particular.
    fn rules(&self, value: &Value) -> Read<Vec<Rule>> {
        if value.get_ref().as_str() == Some("all") {
            return Ok(Vec::new());
        }
        let names: &[Value] = match value.get_ref().as_array() {
            Some(names) => names,
            None => std::slice::from_ref(value),
        };
        if names.is_empty() {
            return Err(self.error(value.span().start, "name a rule, or `all`"));
        }
        names.iter().map(|name| self.rule(&self.string(name)?, name.span().start)).collect()
    }

    fn rule(&self, id: &str, at: usize) -> Read<Rule> {
        Rule::named(id).ok_or_else(|| {
            let known = Rule::ALL.map(Rule::id);
            self.error(at, format!("unknown rule `{id}`; {}", meant(id, &known)))
        })
    }

    /// An error, for whatever key got here without being one of these.
    fn known(&self, key: &Key, known: &[&str]) -> Read<()> {
        let name = key.get_ref().as_ref();
        if known.contains(&name) {
            return Ok(());
        }
        Err(self.error(key.span().start, format!("unknown key `{name}`; {}", meant(name, known))))
    }

    fn one_of<T: Copy>(&self, value: &Value, known: &[(&str, T)]) -> Read<T> {
        let word = self.string(value)?;
        match known.iter().find(|(name, _)| *name == word) {
            Some((_, meaning)) => Ok(*meaning),
            None => {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                Err(self
                    .error(value.span().start, format!("unknown value `{word}`; {}", meant(&word, &names))))
            }
        }
    }

    fn table<'v, 't>(&self, value: &'v Value<'t>) -> Read<&'v DeTable<'t>> {
        value.get_ref().as_table().ok_or_else(|| self.expected("a table", value))
    }

    fn string(&self, value: &Value) -> Read<String> {
        let text = value.get_ref().as_str().map(str::to_owned);
        text.filter(|text| !text.is_empty()).ok_or_else(|| self.expected("a string that is not empty", value))
    }

    /// A list, or one alone.
    fn strings(&self, value: &Value) -> Read<Vec<String>> {
        match value.get_ref().as_array() {
            Some(list) => list.iter().map(|one| self.string(one)).collect(),
            None if value.get_ref().is_str() => Ok(vec![self.string(value)?]),
            None => Err(self.expected("a string or a list of strings", value)),
        }
    }

    /// A list of lists.
    fn groups(&self, value: &Value) -> Read<Vec<Vec<String>>> {
        let groups = value.get_ref().as_array();
        let groups = groups.ok_or_else(|| self.expected("a list of lists of methods", value))?;
        let group = |group: &Value| match group.get_ref().as_array() {
            Some(_) => self.strings(group),
            None => Err(self.expected("a list of methods, inside a list of such groups", group)),
        };
        groups.iter().map(group).collect()
    }

    fn paths(&self, value: &Value) -> Read<Vec<PathBuf>> {
        Ok(self.strings(value)?.into_iter().map(|path| self.beside(&path)).collect())
    }

    fn path(&self, value: &Value) -> Read<PathBuf> {
        Ok(self.beside(&self.string(value)?))
    }

    fn beside(&self, path: &str) -> PathBuf {
        self.file.parent().unwrap_or(Path::new("")).join(path)
    }

    fn boolean(&self, value: &Value) -> Read<bool> {
        value.get_ref().as_bool().ok_or_else(|| self.expected("true or false", value))
    }

    fn number(&self, value: &Value) -> Read<u64> {
        let number = value.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
        number.filter(|&number| number > 0).ok_or_else(|| self.expected("a number above zero", value))
    }

    fn expected(&self, what: &str, value: &Value) -> Error {
        self.error(value.span().start, format!("expected {what}, and this is {}", kind(value.get_ref())))
    }

    fn error(&self, at: usize, message: impl Into<String>) -> Error {
        let (line, column) = self.position(at);
        Error::Config { file: self.file.to_path_buf(), line, column, message: message.into() }
    }

    fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

fn kind(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// "did you mean `exclude`?", or what there is.
fn meant(name: &str, known: &[&str]) -> String {
    let slips = |known: &str| strsim::osa_distance(name, known);
    let close = known.iter().filter(|known| slips(known) <= name.chars().count().div_ceil(3));
    match close.min_by_key(|known| slips(known)) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("there are {}", known.join(", ")),
    }
}

#[cfg(test)]
#[path = "../tests/config.rs"]
mod tests;
