//! Reads model files: TOML with one table per class, whose values are steps, and the policy tables.
//! Owns the file format and the places of errors; what entries mean together is the registry's business.

use crate::parse;
use crate::policy::{Pattern, Policy};
use crate::registry::ModelError;
use crate::signature::Signature;
use crate::step::Model;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Debug, Default)]
pub(crate) struct ModelFile {
    pub entries: Vec<Entry>,
    pub quiet: Policy,
    pub full: Policy,
}

/// One line of a model file: the model of a method, or of all overloads of a name.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Internal name.
    pub class: String,
    /// From the table's `exact`: only for objects that are of this class and no subclass.
    pub exact: bool,
    /// From the table's `since`: the first JDK that has the class or the methods.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the check against the JDKs asks"))]
    pub since: u32,
    pub signature: Signature,
    pub model: Model,
    pub line: usize,
    /// Taken over from another table by `like`.
    #[cfg_attr(not(test), expect(dead_code, reason = "only the check against the JDKs asks"))]
    pub copied: bool,
}

/// The table `class` also has the entries of the table `of`, except where it has its own.
struct Like {
    class: String,
    exact: bool,
    since: u32,
    of: String,
    at: usize,
}

pub(crate) fn read(file: &str, text: &str) -> Result<ModelFile, ModelError> {
    let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at).collect();
    let reader = Reader { file, text, ends };
    let document = DeTable::parse(text)
        .map_err(|error| reader.error(error.span().map_or(0, |span| span.start), error.message()))?;
    let mut out = ModelFile::default();
    let mut likes = Vec::new();
    for (key, value) in document.get_ref() {
        let table = reader.table(value)?;
        match key.get_ref().as_ref() {
            "policy" => reader.policies(table, &mut out)?,
            class => likes.extend(reader.class(key, class, table, &mut out)?),
        }
    }
    let written = out.entries.clone();
    for like in likes {
        reader.copy(like, &written, &mut out)?;
    }
    // Tables come out of the TOML reader in the order of their names; entries read better in file order.
    out.entries.sort_by_key(|entry| entry.line);
    Ok(out)
}

type Key<'t> = Spanned<std::borrow::Cow<'t, str>>;
type Value<'t> = Spanned<DeValue<'t>>;

struct Reader<'t> {
    file: &'t str,
    text: &'t str,
    /// Offsets of the line ends.
    ends: Vec<usize>,
}

impl Reader<'_> {
    fn class(
        &self,
        key: &Key,
        class: &str,
        table: &DeTable,
        out: &mut ModelFile,
    ) -> Result<Option<Like>, ModelError> {
        if let Some((_, inner)) = table.iter().find(|(_, value)| value.get_ref().is_table()) {
            let at = inner.span().start;
            return Err(self.error(at, format!("put the class name in quotes: [\"{class}.…\"]")));
        }
        if !class.contains('.') && class.chars().any(|c| !c.is_alphanumeric() && !matches!(c, '_' | '$')) {
            return Err(self.error(key.span().start, format!("`{class}` is no class name")));
        }
        let (mut exact, mut since, mut like) = (false, 0, None);
        let mut models = Vec::new();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "exact" => exact = self.boolean(value)?,
                "since" => since = self.integer(value)?,
                "like" => like = Some((self.string(value)?.replace('.', "/"), value.span().start)),
                _ => models.push((key, value)),
            }
        }
        for (key, value) in models {
            out.entries.push(self.entry(class, exact, since, key, value)?);
        }
        Ok(like.map(|(of, at)| Like { class: class.replace('.', "/"), exact, since, of, at }))
    }

    fn copy(&self, like: Like, written: &[Entry], out: &mut ModelFile) -> Result<(), ModelError> {
        let of = |entry: &&Entry, class: &str| entry.class == class && entry.exact == like.exact;
        if !written.iter().any(|entry| of(&entry, &like.of)) {
            let message = format!("there is no table of `{}` in this file", like.of.replace('/', "."));
            return Err(self.error(like.at, message));
        }
        let own: Vec<_> = written.iter().filter(|entry| of(entry, &like.class)).collect();
        for entry in written.iter().filter(|entry| of(entry, &like.of)) {
            if own.iter().all(|own| own.signature != entry.signature) {
                let (class, since) = (like.class.clone(), like.since);
                out.entries.push(Entry { class, since, copied: true, ..entry.clone() });
            }
        }
        Ok(())
    }

    fn entry(
        &self,
        class: &str,
        exact: bool,
        since: u32,
        key: &Key,
        value: &Value,
    ) -> Result<Entry, ModelError> {
        let Some(signature) = Signature::parse(key.get_ref()) else {
            let message = format!(
                "unknown key `{}`: expected `name(Types)`, `name(*)`, `exact`, `like` or `since`",
                key.get_ref()
            );
            return Err(self.error(key.span().start, message));
        };
        let steps = self.string(value)?;
        let model = parse::model(steps).map_err(|error| {
            let line = self.line(value.span().start) + self.lines_before(value, steps, error.offset);
            ModelError { file: self.file.to_owned(), line, message: error.message }
        })?;
        if let (Some(params), Some(highest)) = (&signature.params, model.highest_param())
            && usize::from(highest) >= params.len()
        {
            let message =
                format!("bad operand `p{highest}`: `{}` has {} parameters", signature.name, params.len());
            return Err(self.error(value.span().start, message));
        }
        Ok(Entry {
            class: class.replace('.', "/"),
            exact,
            since,
            signature,
            model,
            line: self.line(key.span().start),
            copied: false,
        })
    }

    fn policies(&self, table: &DeTable, out: &mut ModelFile) -> Result<(), ModelError> {
        for (key, value) in table {
            let policy = match key.get_ref().as_ref() {
                "quiet" => &mut out.quiet,
                "full" => &mut out.full,
                other => return Err(self.error(key.span().start, format!("unknown policy `{other}`"))),
            };
            self.policy(self.table(value)?, policy)?;
        }
        Ok(())
    }

    fn policy(&self, table: &DeTable, policy: &mut Policy) -> Result<(), ModelError> {
        for (key, value) in table {
            let list = match key.get_ref().as_ref() {
                "opaque" => &mut policy.opaque,
                "analysed" => &mut policy.analysed,
                "merged" => &mut policy.merged,
                "containers" => &mut policy.containers,
                other => return Err(self.error(key.span().start, format!("unknown key `{other}`"))),
            };
            let Some(items) = value.get_ref().as_array() else {
                return Err(self.error(value.span().start, "expected a list of class patterns"));
            };
            for item in items {
                let Some(pattern) = Pattern::parse(self.string(item)?) else {
                    return Err(self.error(item.span().start, "this is no class pattern"));
                };
                list.push(pattern);
            }
        }
        Ok(())
    }

    fn table<'v, 't>(&self, value: &'v Value<'t>) -> Result<&'v DeTable<'t>, ModelError> {
        value.get_ref().as_table().ok_or_else(|| self.error(value.span().start, "expected a table"))
    }

    fn string<'v>(&self, value: &'v Value) -> Result<&'v str, ModelError> {
        value.get_ref().as_str().ok_or_else(|| self.error(value.span().start, "expected a string"))
    }

    fn boolean(&self, value: &Value) -> Result<bool, ModelError> {
        value.get_ref().as_bool().ok_or_else(|| self.error(value.span().start, "expected true or false"))
    }

    fn integer(&self, value: &Value) -> Result<u32, ModelError> {
        let number = value.get_ref().as_integer().and_then(|digits| digits.as_str().parse().ok());
        number.ok_or_else(|| self.error(value.span().start, "expected a whole number"))
    }

    fn error(&self, offset: usize, message: impl Into<String>) -> ModelError {
        ModelError { file: self.file.to_owned(), line: self.line(offset), message: message.into() }
    }

    fn line(&self, offset: usize) -> usize {
        1 + self.ends.partition_point(|&end| end < offset)
    }

    /// How many lines below the opening quote an offset of the value's text lies.
    fn lines_before(&self, value: &Value, steps: &str, offset: usize) -> usize {
        let opening = &self.text[value.span().start..];
        let skipped = ["\"\"\"\n", "\"\"\"\r\n", "'''\n", "'''\r\n"].iter().any(|q| opening.starts_with(q));
        let within = steps.as_bytes().iter().take(offset).filter(|&&byte| byte == b'\n').count();
        within + usize::from(skipped)
    }
}
