//! What an editor shows of a finding: where it is underlined, in which words, and what else there is to see. Knows how
//! columns are counted, and nothing of any protocol.

use crate::text::excerpt::{Source, Target};
use crate::text::{clean, deed, lock, message, readable};
use crate::{Sources, names::Names};
use findings::{Confidence, Finding, LockUse, Place, Site, Unguarded};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A stretch of a line. Lines and columns count from 0, columns in UTF-16 units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// As the report names it.
    pub file: String,
    pub line: u32,
    pub columns: Range<u32>,
}

/// A place that is underlined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    pub at: Stretch,
    pub message: String,
    /// What else there is to see, with words for each.
    pub related: Vec<(Stretch, String)>,
}

/// The texts that some findings are about, each read once.
#[derive(Default)]
pub struct Texts(BTreeMap<String, Source>);

impl Texts {
    /// Has those of these findings afterwards, and no others.
    pub fn read<'f>(&mut self, findings: impl IntoIterator<Item = &'f Finding>, sources: &dyn Sources) {
        let mut before = std::mem::take(&mut self.0);
        for file in findings.into_iter().flat_map(files) {
            if self.0.contains_key(file) {
                continue;
            }
            let read = || sources.text(file).map(|text| Source::new(text, file));
            if let Some(source) = before.remove(file).or_else(read) {
                self.0.insert(file.to_owned(), source);
            }
        }
    }

    /// Will read such files again.
    pub fn forget(&mut self, is_such: impl Fn(&str) -> bool) {
        self.0.retain(|file, _| !is_such(file));
    }
}

/// The files that a finding speaks of; some of them more than once.
pub fn files(finding: &Finding) -> Vec<&str> {
    let mut places: Vec<&Place> = finding.object.iter().collect();
    for site in &finding.sites {
        places.push(&site.place);
        places.extend(&site.started);
        places.extend(site.locks.iter().chain(&site.holds).chain(&site.acquires).map(|held| &held.place));
        places.extend(site.trace.iter().map(|frame| &frame.place));
    }
    places.extend(finding.unguarded.iter().map(|access| &access.place));
    places.into_iter().map(|place| place.file.as_str()).collect()
}

/// Of more places than this a finding underlines the first.
const MOST_MARKS: usize = 50;

/// Finds places in texts.
pub struct Editor<'t> {
    pub texts: &'t Texts,
    pub sources: &'t dyn Sources,
}

impl Editor<'_> {
    /// One for each place of the finding that has a source: its sites, and every other access without the lock.
    pub fn marks(&self, finding: &Finding) -> Vec<Mark> {
        let names = Names::new(self.sources);
        let mut marks: Vec<Mark> = Vec::new();
        for (number, site) in finding.sites.iter().enumerate() {
            let Some(at) = self.site(site, finding) else { continue };
            if marks.iter().any(|mark| mark.at == at) {
                continue;
            }
            let message = words(finding, &clean(&deed(site, &names)), &names);
            let related = self.related(finding, Some(number), &at, &names);
            marks.push(Mark { at, message, related });
        }
        // One line that reads and writes a field is underlined once.
        let of_sites = finding.sites.iter().filter_map(|site| Some((&site.place, finding.field.as_ref()?)));
        let mut known: BTreeSet<(&Place, &String)> = of_sites.collect();
        for access in &finding.unguarded {
            if marks.len() >= MOST_MARKS {
                break;
            }
            let Some(at) = self.unguarded(access) else { continue };
            if !known.insert((&access.place, &access.field)) || marks.iter().any(|mark| mark.at == at) {
                continue;
            }
            let what = format!("also unguarded: {} in {}", access.access.id(), readable(&access.method));
            let message = words(finding, &what, &names);
            let related = self.related(finding, None, &at, &names);
            marks.push(Mark { at, message, related });
        }
        marks
    }

    /// The variable that an access is about.
    pub fn unguarded(&self, access: &Unguarded) -> Option<Stretch> {
        let target = Target::of_field(&access.field);
        self.stretch(&access.place, |source| source.access(access.place.line, target, access.access))
    }

    /// What happens at a site.
    pub fn site(&self, site: &Site, finding: &Finding) -> Option<Stretch> {
        self.stretch(&site.place, |source| source.site(site, Target::of(finding)))
    }

    /// Where a lock is taken.
    pub fn lock(&self, held: &LockUse) -> Option<Stretch> {
        self.stretch(&held.place, |source| source.lock(held.place.line, &held.name))
    }

    /// The statement at a place.
    pub fn place(&self, place: &Place) -> Option<Stretch> {
        self.stretch(place, |source| source.access(place.line, Target::Unnamed, findings::AccessKind::Call))
    }

    fn stretch(
        &self,
        place: &Place,
        find: impl Fn(&Source) -> Option<crate::text::excerpt::Span>,
    ) -> Option<Stretch> {
        let source = self.texts.0.get(&place.file)?;
        let span = find(source)?;
        let columns = source.columns(&span);
        let column = |at: usize| u32::try_from(at.saturating_sub(1)).unwrap_or(u32::MAX);
        Some(Stretch {
            file: place.file.clone(),
            line: u32::try_from(span.line.saturating_sub(1)).unwrap_or(u32::MAX),
            columns: column(columns.start)..column(columns.end),
        })
    }

    fn related(
        &self,
        finding: &Finding,
        number: Option<usize>,
        at: &Stretch,
        names: &Names<'_>,
    ) -> Vec<(Stretch, String)> {
        let mut related = Vec::new();
        let mut add = |stretch: Option<Stretch>, words: String| {
            let Some(stretch) = stretch else { return };
            let known = related.iter().any(|(other, said)| *other == stretch && *said == words);
            if !known {
                related.push((stretch, words));
            }
        };
        let own = number.and_then(|number| finding.sites.get(number));
        let others = finding.sites.iter().enumerate().filter(|(other, _)| Some(*other) != number);
        for (_, site) in others.clone() {
            let place = self.site(site, finding);
            let again = if place.as_ref() == Some(at) { "at the same time: " } else { "the other side: " };
            add(place, format!("{again}{}", clean(&deed(site, names))));
        }
        for site in own.into_iter().chain(others.map(|(_, site)| site)) {
            for held in site.locks.iter().chain(&site.holds) {
                add(self.lock(held), format!("{} is taken here", clean(&lock(held, names))));
            }
            if let Some(started) = &site.started {
                add(self.place(started), "the thread is started here".to_owned());
            }
        }
        if let Some(object) = &finding.object {
            add(self.place(object), "the object is made here".to_owned());
        }
        related
    }
}

fn words(finding: &Finding, deed: &str, names: &Names<'_>) -> String {
    let doubt = match finding.confidence {
        Confidence::High => String::new(),
        other => format!(" ({} confidence)", other.id()),
    };
    format!("{}{doubt}\n{deed}", message(finding, names))
}

/// `bank.Account.deposit(int)` as it is read.
pub fn method(name: &str) -> String {
    readable(name)
}
