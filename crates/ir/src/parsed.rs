//! Class files kept parsed for a while, so that lowering the methods of a class one by one does not read it
//! again each time. Owns bytes and their parse; knows nothing of ids.

use crate::program::{ClassId, access};
use classfile::{ClassBytes, ClassFile, Method};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

self_cell::self_cell!(
    /// A class file together with the bytes it borrows from.
    struct Parsed {
        owner: Arc<[u8]>,
        #[covariant]
        dependent: ClassFile,
    }
);

impl Parsed {
    fn of(bytes: Arc<[u8]>) -> Result<Parsed, classfile::Error> {
        Parsed::try_new(bytes, |bytes| classfile::parse(bytes))
    }
}

/// A class, with the methods that are taken from earlier versions of it.
pub(crate) struct ParsedClass {
    /// The class as it is, then earlier versions.
    versions: Vec<Parsed>,
    members: Vec<Place>,
}

/// Where a method is declared, and where its code is: a version, and a position in it.
#[derive(Clone, Copy)]
struct Place {
    head: (usize, usize),
    code: (usize, usize),
}

/// A method of a class.
pub(crate) struct Member<'a> {
    /// How it is declared.
    pub(crate) head: &'a Method<'a>,
    /// The class file that has its code, which belongs to no other.
    pub(crate) file: &'a ClassFile<'a>,
    pub(crate) code: &'a Method<'a>,
}

impl ParsedClass {
    pub(crate) fn parse(found: ClassBytes) -> Result<ParsedClass, classfile::Error> {
        let now = Parsed::of(found.bytes)?;
        let methods = &now.borrow_dependent().methods;
        let mut members: Vec<Place> =
            (0..methods.len()).map(|at| Place { head: (0, at), code: (0, at) }).collect();
        let mut versions = vec![now];
        for earlier in found.earlier.iter() {
            // Without it the methods are what stands in their place.
            let Ok(version) = Parsed::of(earlier.bytes.clone()) else { continue };
            let methods = version.borrow_dependent().methods.iter().enumerate();
            for (at, method, kept) in
                methods.flat_map(|(at, method)| earlier.kept(method).map(move |kept| (at, method, kept)))
            {
                let code = (versions.len(), at);
                let own = &versions[0].borrow_dependent().methods;
                let stands_for =
                    |other: &Method<'_>| other.name == method.name && *other.descriptor == *kept.now;
                match own.iter().position(stands_for) {
                    // Where the parameters are elsewhere, the code means something else.
                    Some(own_at) if is_static(&own[own_at]) == is_static(method) => {
                        members[own_at].code = code;
                    }
                    Some(_) => {}
                    None => members.push(Place { head: code, code }),
                }
            }
            versions.push(version);
        }
        Ok(ParsedClass { versions, members })
    }

    /// The class as it is: its head, its fields.
    pub(crate) fn file(&self) -> &ClassFile<'_> {
        self.versions[0].borrow_dependent()
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// The method at this position.
    pub(crate) fn member(&self, at: usize) -> Option<Member<'_>> {
        let Place { head, code } = *self.members.get(at)?;
        let method = |(version, at): (usize, usize)| &self.versions[version].borrow_dependent().methods[at];
        let file = self.versions[code.0].borrow_dependent();
        Some(Member { head: method(head), file, code: method(code) })
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = Member<'_>> {
        (0..self.len()).filter_map(|at| self.member(at))
    }
}

fn is_static(method: &Method<'_>) -> bool {
    method.access & access::STATIC != 0
}

/// About 20 KB each: enough for a whole application's working set without holding the JDK in memory.
const KEPT: usize = 2048;

/// The most recently read classes.
#[derive(Default)]
pub(crate) struct ParsedClasses {
    by_class: FxHashMap<ClassId, Arc<ParsedClass>>,
    oldest_first: VecDeque<ClassId>,
}

impl ParsedClasses {
    pub(crate) fn get(&self, class: ClassId) -> Option<Arc<ParsedClass>> {
        self.by_class.get(&class).cloned()
    }

    pub(crate) fn insert(&mut self, class: ClassId, parsed: Arc<ParsedClass>) {
        if self.by_class.insert(class, parsed).is_none() {
            self.oldest_first.push_back(class);
        }
        if self.oldest_first.len() > KEPT
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.by_class.remove(&oldest);
        }
    }

    pub(crate) fn remove(&mut self, class: ClassId) {
        if self.by_class.remove(&class).is_some() {
            self.oldest_first.retain(|&other| other != class);
        }
    }
}
