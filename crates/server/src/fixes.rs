//! Edits that may repair a finding: what could be written, not whether it helps. Every candidate is tried by whoever
//! offers it ([`crate::trial`]).

use findings::{AccessKind, Finding, LockUse, Place, Rule, Site};
use report::editor::{Editor, Stretch};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use syntax::{FieldDeclaration, FieldModifier, MethodDeclaration, Position, Range, Source, TextEdit};

pub struct Candidate {
    pub title: String,
    pub edits: BTreeMap<PathBuf, Vec<TextEdit>>,
}

/// The sources that a finding is about.
pub struct Sources<'a> {
    /// The file of a name as findings have it.
    pub path: &'a dyn Fn(&str) -> Option<PathBuf>,
    pub parsed: &'a dyn Fn(&Path) -> Option<Rc<Source>>,
    /// Finds places of the finding in them.
    pub editor: Editor<'a>,
}

/// The best first.
pub fn candidates(finding: &Finding, sources: &Sources<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    match finding.rule {
        Rule::Deadlock => found.extend(finding.sites.iter().filter_map(|site| swapped(site, sources))),
        Rule::Race | Rule::UnprotectedWrite | Rule::GuardedBy | Rule::ContainerRace => {
            // Who waits for the other in a loop must not keep it out.
            let is_awaited = finding.sites.iter().any(|site| is_awaited(site, finding, sources));
            if !is_awaited {
                found.extend(guarded(finding, sources));
            }
            found.extend(with_modifier(finding, sources));
            if !is_awaited {
                found.extend(synchronized(finding, sources));
            }
        }
        Rule::LockMisuse | Rule::UnsafeInterfaceCall | Rule::BlockingMainThread | Rule::BlockingUnderLock => {
        }
    }
    found
}

/// A place in a source.
struct At<'a> {
    path: PathBuf,
    source: Rc<Source>,
    /// From 0.
    line: u32,
    site: &'a Site,
}

fn at<'a>(site: &'a Site, sources: &Sources<'_>) -> Option<At<'a>> {
    let path = (sources.path)(&site.place.file)?;
    let source = (sources.parsed)(&path)?;
    Some(At { path, source, line: site.place.line.checked_sub(1)?, site })
}

/// Puts every access without a lock under the one that another side holds.
fn guarded(finding: &Finding, sources: &Sources<'_>) -> Option<Candidate> {
    let guard = finding.sites.iter().find_map(|site| site.locks.first())?;
    let bare: Vec<At<'_>> = finding
        .sites
        .iter()
        .filter(|site| site.locks.is_empty())
        .filter_map(|site| at(site, sources))
        .collect();
    let mut edits: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
    let mut lock = String::new();
    for at in &bare {
        lock = expression(guard, &at.site.method)?;
        let here = range(&sources.editor.site(at.site, finding)?);
        add(&mut edits, &at.path, at.source.wrap_in_synchronized(here, &lock)?);
    }
    let title = format!("Guard the access with synchronized ({lock})");
    (!edits.is_empty()).then_some(Candidate { title, edits })
}

/// A lock as it is written in a method: `lock` where it is a field of the same class.
fn expression(guard: &LockUse, method: &str) -> Option<String> {
    let class = method.split('(').next()?.rsplit_once('.')?.0;
    match guard.name.rsplit_once('.') {
        None => Some(guard.name.clone()),
        Some((owner, name)) if owner == class => Some(name.to_owned()),
        Some((owner, "class")) if owner == class => {
            Some(format!("{}.class", simple(&owner.replace('$', "."))))
        }
        Some((_, "class")) => Some(guard.name.clone()),
        Some((owner, name)) => {
            let is_plain =
                owner.chars().chain(name.chars()).all(|c| c.is_alphanumeric() || "._$".contains(c));
            is_plain.then(|| format!("{}.{name}", owner.replace('$', ".")))
        }
    }
}

/// Makes the methods synchronized that touch the field without a lock.
fn synchronized(finding: &Finding, sources: &Sources<'_>) -> Option<Candidate> {
    // Who has chosen another lock does not want this one.
    if finding.sites.iter().flat_map(|site| &site.locks).any(|held| held.name != "this") {
        return None;
    }
    let mut edits: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
    let mut made: Vec<(String, MethodDeclaration)> = Vec::new();
    for site in &finding.sites {
        let at = at(site, sources)?;
        let method = at.source.method_at(at.line)?;
        let is_known =
            made.iter().any(|(class, other)| *class == method.class && other.name_range == method.name_range);
        if is_known || method.modifiers.iter().any(|modifier| modifier == "synchronized") {
            continue;
        }
        add(&mut edits, &at.path, at.source.make_synchronized(&method)?);
        made.push((method.class.clone(), method));
    }
    let (class, first) = made.first()?;
    // Methods of several classes have several locks.
    if made.iter().any(|(other, method)| other != class || method.is_static != first.is_static) {
        return None;
    }
    let names: Vec<&str> = made.iter().map(|(_, method)| method.name.as_str()).collect();
    Some(Candidate { title: format!("Make {} synchronized", names.join(" and ")), edits })
}

/// Makes the field final if it is only written where objects are made, else volatile if no update can be lost by that.
fn with_modifier(finding: &Finding, sources: &Sources<'_>) -> Option<Candidate> {
    if finding.rule == Rule::ContainerRace {
        return None;
    }
    let (class, name) = finding.field.as_deref()?.rsplit_once('.')?;
    let (path, source, field) = declaration(class, name, finding, sources)?;
    let mut writes = finding.sites.iter().filter(|site| site.access == AccessKind::Write).peekable();
    writes.peek()?;
    let is_construction =
        |site: &Site| site.method.contains(".<init>(") || site.method.contains(".<clinit>(");
    let (modifier, word) = if writes.clone().all(is_construction) {
        (FieldModifier::Final, "final")
    } else if writes.all(|site| is_plain(site, finding, sources).unwrap_or(false))
        && !finding
            .also
            .iter()
            .any(|(one, other)| [one, other].iter().any(|at| is_updated(at, name, sources)))
    {
        (FieldModifier::Volatile, "volatile")
    } else {
        return None;
    };
    let edits = BTreeMap::from([(path, source.add_field_modifier(&field, modifier)?)]);
    Some(Candidate { title: format!("Make {name} {word}"), edits })
}

/// Where a field is declared: in the file of its class, or in one that touches it.
pub fn declaration(
    class: &str,
    name: &str,
    finding: &Finding,
    sources: &Sources<'_>,
) -> Option<(PathBuf, Rc<Source>, FieldDeclaration)> {
    let outermost = class.split('$').next().unwrap_or(class);
    let own = format!("{}.java", outermost.replace('.', "/"));
    let files =
        std::iter::once(own.as_str()).chain(finding.sites.iter().map(|site| site.place.file.as_str()));
    files.filter_map(|file| (sources.path)(file)).find_map(|path| {
        let source = (sources.parsed)(&path)?;
        let field = source.fields().into_iter().find(|field| field.class == class && field.name == name)?;
        Some((path, source, field))
    })
}

/// Whether what is written does not depend on what was there: otherwise two threads would still lose an update.
fn is_plain(site: &Site, finding: &Finding, sources: &Sources<'_>) -> Option<bool> {
    let here = range(&sources.editor.site(site, finding)?);
    Some(at(site, sources)?.source.is_plainly_assigned(here.start))
}

/// The same of a place that is not shown.
fn is_updated(place: &Place, name: &str, sources: &Sources<'_>) -> bool {
    let source = (sources.path)(&place.file).and_then(|path| (sources.parsed)(&path));
    source.is_none_or(|source| place.line > 0 && source.is_updated_on(place.line - 1, name))
}

fn is_awaited(site: &Site, finding: &Finding, sources: &Sources<'_>) -> bool {
    let awaited = || {
        let here = range(&sources.editor.site(site, finding)?);
        Some(at(site, sources)?.source.is_waited_for(here.start))
    };
    awaited().unwrap_or(false)
}

/// Takes the two locks of one side in the other order.
fn swapped(site: &Site, sources: &Sources<'_>) -> Option<Candidate> {
    let (holds, acquires) = (site.holds.as_ref()?, site.acquires.as_ref()?);
    if holds.place.file != acquires.place.file {
        return None;
    }
    let at = at(site, sources)?;
    let point = |lock: &LockUse| Some(range(&sources.editor.lock(lock)?).start);
    let edits = at.source.swap_locks(point(holds)?, point(acquires)?)?;
    let title = format!("Take {} before {}", simple(&acquires.name), simple(&holds.name));
    Some(Candidate { title, edits: BTreeMap::from([(at.path.clone(), edits)]) })
}

fn range(at: &Stretch) -> Range {
    Range::new(Position::new(at.line, at.columns.start), Position::new(at.line, at.columns.end))
}

fn simple(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn add(edits: &mut BTreeMap<PathBuf, Vec<TextEdit>>, path: &Path, more: Vec<TextEdit>) {
    let known = edits.entry(path.to_path_buf()).or_default();
    known.extend(more.into_iter().filter(|edit| !known.contains(edit)).collect::<Vec<_>>());
}
