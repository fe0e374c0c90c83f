//! Edits that may repair a finding: what could be written, not whether it helps. Every candidate is tried by whoever
//! offers it ([`crate::trial`]).

use findings::{AccessKind, Finding, LockUse, Place, Rule, Site, Unguarded};
use report::editor::{Editor, Stretch};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use syntax::{
    FieldDeclaration, FieldModifier, MethodDeclaration, Position, Range, Source, TextEdit, Wrapping,
};

pub struct Candidate {
    pub title: String,
    pub edits: BTreeMap<PathBuf, Vec<TextEdit>>,
    /// Keys of the unguarded accesses that it is about; none if it is about the whole finding.
    pub accesses: Vec<String>,
}

/// The sources that a finding is about.
pub struct Sources<'a> {
    /// The file of a name as findings have it.
    pub path: &'a dyn Fn(&str) -> Option<PathBuf>,
    pub parsed: &'a dyn Fn(&Path) -> Option<Rc<Source>>,
    /// Finds places of the finding in them.
    pub editor: Editor<'a>,
}

/// The best first, for who asks at a line, which counts from 0.
pub fn candidates(finding: &Finding, sources: &Sources<'_>, (path, line): (&Path, u32)) -> Vec<Candidate> {
    let mut found = Vec::new();
    match finding.rule {
        Rule::Deadlock => found.extend(finding.sites.iter().filter_map(|site| swapped(site, sources))),
        Rule::Race | Rule::UnprotectedWrite | Rule::GuardedBy | Rule::ContainerRace => {
            // Who waits for the other in a loop must not keep it out.
            let all = accesses(finding, sources);
            let is_awaited = all.iter().any(Access::is_awaited);
            if !is_awaited {
                let bare: Vec<&Access> = all.iter().filter(|one| !one.is_locked).collect();
                let here: Vec<&Access> =
                    bare.iter().copied().filter(|one| one.path == path && one.line == line).collect();
                let is_part = here.len() < bare.len();
                found.extend(guarded(finding, &bare, sources, Extent::Finding));
                found.extend(guarded(finding, &here, sources, Extent::Line).filter(|_| is_part));
            }
            found.extend(with_modifier(finding, &all, sources));
            if !is_awaited {
                found.extend(synchronized(finding, &all));
            }
        }
        Rule::LockMisuse | Rule::UnsafeInterfaceCall | Rule::BlockingMainThread | Rule::BlockingUnderLock => {
        }
    }
    found
}

/// One access that a finding is about, in its source.
struct Access {
    path: PathBuf,
    source: Rc<Source>,
    /// From 0.
    line: u32,
    /// The variable.
    range: Range,
    kind: AccessKind,
    method: String,
    field: String,
    /// It holds a lock.
    is_locked: bool,
    /// See [`Unguarded::key`].
    key: String,
}

impl Access {
    fn of(one: &Unguarded, is_locked: bool, sources: &Sources<'_>) -> Option<Access> {
        let path = (sources.path)(&one.place.file)?;
        let source = (sources.parsed)(&path)?;
        let line = one.place.line.checked_sub(1)?;
        let range = range(&sources.editor.unguarded(one)?);
        let (kind, method, field) = (one.access, one.method.clone(), one.field.clone());
        Some(Access { path, source, line, range, kind, method, field, is_locked, key: one.key() })
    }

    /// Whether a loop waits for it.
    fn is_awaited(&self) -> bool {
        self.source.is_waited_for(self.range.start)
    }
}

/// The sites of a finding and its other unguarded accesses, as far as there are sources.
fn accesses(finding: &Finding, sources: &Sources<'_>) -> Vec<Access> {
    let field = finding.field.clone().unwrap_or_default();
    let of_site = |site: &Site| {
        let (method, place) = (site.method.clone(), site.place.clone());
        (Unguarded { access: site.access, method, field: field.clone(), place }, !site.locks.is_empty())
    };
    let sites = finding.sites.iter().map(of_site);
    let others = finding.unguarded.iter().map(|one| (one.clone(), false));
    let mut found: Vec<Access> = Vec::new();
    for (one, is_locked) in sites.chain(others) {
        let Some(access) = Access::of(&one, is_locked, sources) else { continue };
        let is_same = |known: &Access| {
            (&known.path, known.range, known.kind) == (&access.path, access.range, access.kind)
        };
        if !found.iter().any(is_same) {
            found.push(access);
        }
    }
    found
}

/// How much of a finding a candidate is to repair.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    Finding,
    Line,
}

/// Puts accesses that hold no lock under the one that another side holds, in the way in which that is held.
fn guarded(finding: &Finding, bare: &[&Access], sources: &Sources<'_>, extent: Extent) -> Option<Candidate> {
    let guard = finding.sites.iter().find_map(|site| site.locks.first())?;
    let wrapping = wrapping(guard, sources)?;
    let mut edits: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
    let mut lock = String::new();
    for access in bare {
        lock = expression(guard, &access.method)?;
        add(&mut edits, &access.path, access.source.wrap_in(wrapping, access.range, &lock)?);
    }
    let how = match wrapping {
        Wrapping::Synchronized => format!("synchronized ({lock})"),
        Wrapping::LockAndUnlock => format!("{lock}.lock()"),
    };
    let places: BTreeSet<(&PathBuf, u32)> = bare.iter().map(|one| (&one.path, one.line)).collect();
    let what = match (extent, places.len()) {
        (Extent::Line, _) => "this access".to_owned(),
        (Extent::Finding, 1) => "the access".to_owned(),
        (Extent::Finding, many) => format!("all {many} accesses"),
    };
    let keys = bare.iter().filter(|_| extent == Extent::Line).map(|access| access.key.clone());
    let (title, accesses) = (format!("Guard {what} with {how}"), keys.collect());
    (!edits.is_empty()).then_some(Candidate { title, edits, accesses })
}

/// How the source takes a lock: the monitor of a `Lock` object is another lock than that object. None where the
/// source does not show it, or shows neither of the two.
fn wrapping(guard: &LockUse, sources: &Sources<'_>) -> Option<Wrapping> {
    let taken = sources.editor.lock(guard)?;
    let source = (sources.parsed)(&(sources.path)(&guard.place.file)?)?;
    let text = source.text().get(source.offset(range(&taken).start)..)?;
    let line = text.lines().next().unwrap_or_default();
    if text.starts_with("synchronized") {
        Some(Wrapping::Synchronized)
    } else if !guard.shared && line.contains(&format!("{}.lock()", simple(&guard.name))) {
        Some(Wrapping::LockAndUnlock)
    } else {
        None
    }
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
fn synchronized(finding: &Finding, accesses: &[Access]) -> Option<Candidate> {
    // Who has chosen another lock does not want this one.
    if finding.sites.iter().flat_map(|site| &site.locks).any(|held| held.name != "this") {
        return None;
    }
    let mut edits: BTreeMap<PathBuf, Vec<TextEdit>> = BTreeMap::new();
    let mut made: Vec<(String, MethodDeclaration)> = Vec::new();
    for access in accesses {
        let method = access.source.method_at(access.line)?;
        let is_known =
            made.iter().any(|(class, other)| *class == method.class && other.name_range == method.name_range);
        if is_known || method.modifiers.iter().any(|modifier| modifier == "synchronized") {
            continue;
        }
        add(&mut edits, &access.path, access.source.make_synchronized(&method)?);
        made.push((method.class.clone(), method));
    }
    let (class, first) = made.first()?;
    // Methods of several classes have several locks.
    if made.iter().any(|(other, method)| other != class || method.is_static != first.is_static) {
        return None;
    }
    let names: Vec<&str> = made.iter().map(|(_, method)| method.name.as_str()).collect();
    let title = format!("Make {} synchronized", names.join(" and "));
    Some(Candidate { title, edits, accesses: Vec::new() })
}

/// Makes the field final if it is only written where objects are made, else volatile if no update can be lost by that.
fn with_modifier(finding: &Finding, accesses: &[Access], sources: &Sources<'_>) -> Option<Candidate> {
    if finding.rule == Rule::ContainerRace {
        return None;
    }
    let (class, name) = finding.field.as_deref()?.rsplit_once('.')?;
    let (path, source, field) = declaration(class, name, finding, sources)?;
    let is_own = |access: &&Access| finding.field.as_ref() == Some(&access.field);
    let mut writes = accesses.iter().filter(is_own).filter(|one| one.kind == AccessKind::Write).peekable();
    writes.peek()?;
    let is_construction =
        |access: &Access| access.method.contains(".<init>(") || access.method.contains(".<clinit>(");
    // An update of several steps is lost as before, only that it is not reported any more.
    let is_plain = |access: &Access| access.source.is_plainly_assigned(access.range.start);
    let may_lose = || {
        let places = finding.also.iter().flat_map(|(one, other)| [one, other]);
        finding.loses_update() || places.into_iter().any(|place| is_updated(place, name, sources))
    };
    let (modifier, word) = if writes.clone().all(is_construction) {
        (FieldModifier::Final, "final")
    } else if writes.all(is_plain) && !may_lose() {
        (FieldModifier::Volatile, "volatile")
    } else {
        return None;
    };
    let edits = BTreeMap::from([(path, source.add_field_modifier(&field, modifier)?)]);
    Some(Candidate { title: format!("Make {name} {word}"), edits, accesses: Vec::new() })
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

/// Whether an update could be lost at a place that is not shown.
fn is_updated(place: &Place, name: &str, sources: &Sources<'_>) -> bool {
    let source = (sources.path)(&place.file).and_then(|path| (sources.parsed)(&path));
    source.is_none_or(|source| place.line > 0 && source.is_updated_on(place.line - 1, name))
}

/// Takes the two locks of one side in the other order.
fn swapped(site: &Site, sources: &Sources<'_>) -> Option<Candidate> {
    let (holds, acquires) = (site.holds.as_ref()?, site.acquires.as_ref()?);
    if holds.place.file != acquires.place.file {
        return None;
    }
    let path = (sources.path)(&site.place.file)?;
    let source = (sources.parsed)(&path)?;
    let point = |lock: &LockUse| Some(range(&sources.editor.lock(lock)?).start);
    let edits = source.swap_locks(point(holds)?, point(acquires)?)?;
    let title = format!("Take {} before {}", simple(&acquires.name), simple(&holds.name));
    Some(Candidate { title, edits: BTreeMap::from([(path, edits)]), accesses: Vec::new() })
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
