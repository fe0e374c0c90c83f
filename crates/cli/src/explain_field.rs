//! `snarl explain Class.field` and `snarl explain File.java:LINE`: analyse the program, and tell what is known of the
//! fields that are meant. Which fields these are is decided here, how they are shown is not.

use crate::{args::Format, begin, near, output, settings::Settings};
use anyhow::{Result, bail};
use classfile::ClassSource;
use findings::{About, Finding, Place, Report};
use project::Project;
use report::{field, text};
use session::Session;
use std::sync::Arc;
use workspace::ProjectSources;

/// What is asked for that is no id.
#[derive(Debug, PartialEq, Eq)]
pub enum Subject {
    /// `bank.Account` or `Account`, and `balance`.
    Field(String, String),
    /// `src/bank/Account.java` or the end of such a path, and a line.
    Line(String, u32),
}

impl Subject {
    /// None for what can only be an id.
    pub fn parse(what: &str) -> Option<Subject> {
        if let Some((file, line)) = what.rsplit_once(':')
            && let Ok(line) = line.parse()
            && file.contains('.')
        {
            return Some(Subject::Line(file.replace('\\', "/"), line));
        }
        let (class, name) = what.rsplit_once(['.', '#'])?;
        (!class.is_empty() && !name.is_empty()).then(|| Subject::Field(class.to_owned(), name.to_owned()))
    }
}

pub fn run(subject: &Subject, settings: Settings) -> Result<()> {
    let mut settings = settings.with_all();
    // The engines are asked afterwards, so that they have to stay.
    settings.setup.options.follow = true;
    let meter = begin::meter(&settings);
    meter.show("opening the program", 0);
    let project = Arc::new(project::open(&settings.setup.request)?);
    let mut session = workspace::session(project.clone(), &settings.setup, false)?;
    let report = workspace::first(&mut session, None, &begin::progress(&settings, &meter));
    if let Some(message) = begin::nowhere_to_begin(&report) {
        bail!("{message}");
    }
    drop(meter);
    let answered = Answer { session: &session, report: &report, project: &project, settings: &settings };
    let told = match subject {
        Subject::Field(class, name) => answered.field(class, name),
        Subject::Line(file, line) => answered.line(file, *line),
    }?;
    output::to_stdout(&told)?;
    session.end();
    Ok(())
}

struct Answer<'a> {
    session: &'a Session,
    report: &'a Report,
    project: &'a Project,
    settings: &'a Settings,
}

impl Answer<'_> {
    fn field(&self, class: &str, name: &str) -> Result<String> {
        let classes = named(class, &self.project.app_classes());
        let found: Vec<About> =
            classes.iter().filter_map(|class| self.session.about_field(class, name)).collect();
        if found.is_empty() {
            bail!("{}", self.unknown(class, name, &classes));
        }
        Ok(self.told(&found, &[]))
    }

    fn unknown(&self, class: &str, name: &str, classes: &[String]) -> String {
        if classes.is_empty() {
            let all = self.project.app_classes();
            let all: Vec<String> = all.iter().map(|class| class.replace('/', ".")).collect();
            let close = near::near(class, &all.iter().map(String::as_str).collect::<Vec<_>>());
            return format!("the program has no class `{class}`{}", meant(&close));
        }
        let fields: Vec<String> =
            classes.iter().flat_map(|class| self.session.guards(class)).map(|field| field.field).collect();
        let close = near::near(name, &fields.iter().map(String::as_str).collect::<Vec<_>>());
        format!("nothing is known of a field `{name}` of `{class}`{}", meant(&close))
    }

    /// The findings at a line, and the fields of the classes of its file that it touches.
    fn line(&self, file: &str, line: u32) -> Result<String> {
        let is_here = |place: &Place| place.line == line && self.is_file(file, &place.file);
        let findings: Vec<&Finding> = self
            .report
            .findings
            .iter()
            .map(Arc::as_ref)
            .filter(|finding| finding.dismissed.is_empty())
            .filter(|finding| {
                finding.sites.iter().any(|site| is_here(&site.place))
                    || finding.unguarded.iter().any(|access| is_here(&access.place))
            })
            .collect();
        let mut fields: Vec<About> = Vec::new();
        for class in self.project.app_classes().iter().filter(|class| self.is_file(file, &file_of(class))) {
            let names = self.session.guards(class).into_iter().map(|guard| guard.field);
            let known = names.filter_map(|name| self.session.about_field(class, &name));
            fields.extend(known.filter(|about| about.accesses.iter().any(|access| is_here(&access.place))));
        }
        // Fields of classes in other files are known by their findings.
        for field in findings.iter().filter_map(|finding| finding.field.as_deref()) {
            let is_told = fields.iter().any(|about| about.field == field);
            if let (false, Some((class, name))) = (is_told, field.rsplit_once('.')) {
                fields.extend(self.session.about_field(class, name));
            }
        }
        if findings.is_empty() && fields.is_empty() {
            bail!("nothing is known of {file}:{line}: no field that threads could share is touched there");
        }
        Ok(self.told(&fields, &findings))
    }

    /// Whether a file as findings name it is the one that is meant.
    fn is_file(&self, asked: &str, file: &str) -> bool {
        let is_end = |path: &str| path == asked || path.ends_with(&format!("/{asked}"));
        let asked_is_longer = || asked.ends_with(&format!("/{file}"));
        is_end(file)
            || asked_is_longer()
            || self.project.source_file(file).is_some_and(|path| is_end(&path.to_string_lossy()))
    }

    fn told(&self, fields: &[About], findings: &[&Finding]) -> String {
        if self.settings.format == Format::Json {
            let sources = ProjectSources::for_machine(self.project);
            return field::json(fields, findings, &sources);
        }
        let (sources, look) = (ProjectSources::for_reader(self.project), &self.settings.look);
        let fields = fields.iter().map(|about| field::text(about, &sources, look));
        let findings = findings.iter().map(|finding| text::finding(finding, &sources, look));
        fields.chain(findings).collect::<Vec<_>>().join("\n")
    }
}

/// The classes that a name may mean, as the class path has them: by all of it, or by its end.
fn named(name: &str, classes: &[String]) -> Vec<String> {
    let plain = |class: &str| class.replace(['/', '$'], ".");
    let asked = plain(name);
    let whole: Vec<String> = classes.iter().filter(|class| plain(class) == asked).cloned().collect();
    if !whole.is_empty() {
        return whole;
    }
    let end = format!(".{asked}");
    classes.iter().filter(|class| plain(class).ends_with(&end)).cloned().collect()
}

/// The file in which a class is written, mostly.
fn file_of(class: &str) -> String {
    format!("{}.java", class.split('$').next().unwrap_or(class))
}

fn meant(close: &[&str]) -> String {
    if close.is_empty() { String::new() } else { format!("; did you mean {}?", close.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_fields_and_lines_are_told_apart() {
        let field = |class: &str, name: &str| Some(Subject::Field(class.into(), name.into()));
        assert_eq!(Subject::parse("3cb8837cfb27ba79"), None);
        assert_eq!(Subject::parse("bank.Account.balance"), field("bank.Account", "balance"));
        assert_eq!(Subject::parse("Account#balance"), field("Account", "balance"));
        assert_eq!(Subject::parse("src\\A.java:12"), Some(Subject::Line("src/A.java".into(), 12)));
        assert_eq!(Subject::parse("A.java:x"), field("A", "java:x"));
        assert_eq!(Subject::parse(".x"), None);
    }

    #[test]
    fn a_class_is_known_by_the_end_of_its_name() {
        let classes =
            ["bank/Account", "bank/Bank$Node", "shop/Account", "bank/BigAccount"].map(str::to_owned);
        assert_eq!(named("bank.Account", &classes), ["bank/Account"]);
        assert_eq!(named("Account", &classes), ["bank/Account", "shop/Account"]);
        assert_eq!(named("Bank.Node", &classes), ["bank/Bank$Node"]);
        assert!(named("Nobody", &classes).is_empty());
    }
}
