//! Which objects pass a filter. Owns the answers of the hierarchy; asks it only when told how.

use ir::ClassId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Is the first class the second, or below it?
pub(crate) type IsSubtype<'a> = &'a mut dyn FnMut(ClassId, ClassId) -> bool;

/// For each filtering class, which objects pass: one bit per object, extended as objects appear.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Filters {
    pub(crate) objects: Vec<ClassId>,
    #[serde(skip)]
    masks: FxHashMap<ClassId, Mask>,
}

#[derive(Default)]
struct Mask {
    bits: Vec<u64>,
    covered: usize,
    /// Answers per class, so that the hierarchy is asked once.
    classes: FxHashMap<ClassId, bool>,
}

impl Filters {
    /// The hierarchy has changed.
    pub(crate) fn forget(&mut self) {
        self.masks.clear();
    }

    pub(crate) fn mask(&mut self, filter: ClassId, subtype: IsSubtype<'_>) -> &[u64] {
        let mask = self.masks.entry(filter).or_default();
        while !mask.extend(&self.objects) {
            let class = self.objects[mask.covered];
            mask.classes.insert(class, subtype(class, filter));
        }
        &mask.bits
    }

    /// The same, if the hierarchy need not be asked.
    pub(crate) fn known(&mut self, filter: ClassId) -> Option<&[u64]> {
        let mask = self.masks.get_mut(&filter)?;
        mask.extend(&self.objects).then_some(&mask.bits)
    }
}

impl Mask {
    /// Covers all objects; false if there is one of a class that nobody has asked about.
    fn extend(&mut self, objects: &[ClassId]) -> bool {
        self.bits.resize(objects.len().div_ceil(64), 0);
        for class in &objects[self.covered..] {
            let Some(&passes) = self.classes.get(class) else { return false };
            if passes {
                self.bits[self.covered >> 6] |= 1 << (self.covered & 63);
            }
            self.covered += 1;
        }
        true
    }
}
