//! The source files that findings are in, each read and looked through once. Knows nothing of formats, and of a finding
//! only where it is.

use crate::Sources;
use crate::line_hash::line_hashes;
use crate::text::excerpt::{Source, Target};
use findings::{Finding, Place, Site};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

pub(crate) struct Files<'a> {
    sources: &'a dyn Sources,
    read: RefCell<BTreeMap<String, Option<Rc<File>>>>,
}

struct File {
    source: Source,
    hashes: Vec<String>,
}

impl<'a> Files<'a> {
    pub fn new(sources: &'a dyn Sources) -> Files<'a> {
        Files { sources, read: RefCell::default() }
    }

    pub fn is_known(&self, file: &str) -> bool {
        self.file(file).is_some()
    }

    /// From the first column of what happens at the site to the one after it, if the source shows it on its line.
    pub fn columns(&self, site: &Site, finding: &Finding) -> Option<Range<usize>> {
        let file = self.file(&site.place.file)?;
        let span = file.source.site(site, Target::of(finding))?;
        (span.line == site.place.line as usize).then(|| file.source.columns(&span))
    }

    /// GitHub's hash of the line.
    pub fn line_hash(&self, place: &Place) -> Option<String> {
        let at = (place.line as usize).checked_sub(1)?;
        self.file(&place.file)?.hashes.get(at).cloned()
    }

    fn file(&self, name: &str) -> Option<Rc<File>> {
        let mut read = self.read.borrow_mut();
        let found = read.entry(name.to_owned()).or_insert_with(|| {
            let text = self.sources.text(name)?;
            let hashes = line_hashes(&text);
            Some(Rc::new(File { source: Source::new(text, name), hashes }))
        });
        found.clone()
    }
}
