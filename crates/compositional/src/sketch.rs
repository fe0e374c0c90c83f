//! Classes read from the class path and reduced to outlines, many at the same time. Until they are put into the
//! program they have ids of their own, so this knows nothing of it.

use crate::outline::Outline;
use classfile::{ClassBytes, ClassSource};
use ir::Apart;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};

/// One class as the class path has it.
pub(crate) struct Sketch {
    pub name: String,
    /// Nothing if there is no such class.
    pub bytes: Option<ClassBytes>,
    apart: Option<Apart>,
    /// By position in the class file.
    outlines: Vec<Option<Outline>>,
}

/// Which methods of a class are wanted.
pub(crate) enum Wanted {
    All,
    /// Those at these positions in the class file.
    At(Vec<usize>),
}

impl Sketch {
    pub fn of(source: &dyn ClassSource, name: &str, wanted: &Wanted) -> Sketch {
        let bytes = source.find(name);
        let apart = bytes.as_ref().and_then(|found| Apart::parse(found.clone()));
        let mut sketch = Sketch { name: name.to_owned(), bytes, apart, outlines: Vec::new() };
        if let Some(apart) = &mut sketch.apart {
            let all = apart.len();
            sketch.outlines.resize_with(all, || None);
            let mut outline = |at: usize| {
                if let Some(place) = sketch.outlines.get_mut(at) {
                    *place = apart.body(at).map(|body| Outline::of(&body));
                }
            };
            match wanted {
                Wanted::All => (0..all).for_each(outline),
                Wanted::At(positions) => positions.iter().for_each(|&at| outline(at)),
            }
        }
        sketch
    }

    /// The outlines of these positions, in the ids of the program.
    pub fn outlines(&mut self, program: &mut ir::Program, positions: &[usize]) -> Vec<Option<Outline>> {
        let Sketch { apart, outlines, .. } = self;
        let Some(apart) = apart else { return positions.iter().map(|_| None).collect() };
        let mut renaming = apart.renaming(program);
        let mut renamed = |at: &usize| {
            let mut outline = outlines.get_mut(*at)?.take()?;
            outline.rename(&mut renaming);
            Some(outline)
        };
        positions.iter().map(&mut renamed).collect()
    }
}

/// A class path with some classes at hand that were read already.
pub(crate) struct Ahead {
    source: Arc<dyn ClassSource>,
    ready: Mutex<FxHashMap<String, ClassBytes>>,
}

impl Ahead {
    pub fn over(source: Arc<dyn ClassSource>) -> Ahead {
        Ahead { source, ready: Mutex::default() }
    }

    /// Has these at hand, and no others.
    pub fn hold<'a>(&self, sketches: impl IntoIterator<Item = &'a Sketch>) {
        let found =
            sketches.into_iter().filter_map(|sketch| Some((sketch.name.clone(), sketch.bytes.clone()?)));
        *self.ready.lock().expect("nobody panics with it") = found.collect();
    }

    pub fn source(&self) -> &dyn ClassSource {
        &*self.source
    }
}

impl ClassSource for Ahead {
    fn find(&self, name: &str) -> Option<ClassBytes> {
        let ready = self.ready.lock().expect("nobody panics with it").get(name).cloned();
        ready.or_else(|| self.source.find(name))
    }

    fn stamp(&self, name: &str) -> Option<u64> {
        self.source.stamp(name)
    }

    fn app_classes(&self) -> Vec<String> {
        self.source.app_classes()
    }

    fn resources(&self, path: &str) -> Vec<Vec<u8>> {
        self.source.resources(path)
    }
}
