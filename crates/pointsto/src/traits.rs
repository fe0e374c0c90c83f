//! What the policy says of a class, asked once: opaque, merged, container.

use crate::dependencies::Dependencies;
use crate::solver::Options;
use classfile::Layer;
use ir::{ClassId, Loaded, Program};
use models::Models;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits {
    /// Bodies are not analysed.
    pub(crate) opaque: bool,
    /// One object for all instances.
    pub(crate) merged: bool,
    /// Told apart by who runs the code that makes it, and by nothing finer.
    pub(crate) throwable: bool,
    /// Methods are analysed per object.
    pub(crate) container: bool,
    pub(crate) layer: Layer,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct TraitTable {
    full_jdk: bool,
    dependencies: Dependencies,
    exclude: Vec<String>,
    #[serde(skip)]
    known: FxHashMap<ClassId, Traits>,
}

impl TraitTable {
    pub(crate) fn new(options: &Options, dependencies: Dependencies) -> TraitTable {
        TraitTable {
            full_jdk: options.full_jdk,
            dependencies,
            exclude: options.exclude.iter().map(|prefix| prefix.replace('.', "/")).collect(),
            known: FxHashMap::default(),
        }
    }

    pub(crate) fn dependencies(&self) -> Dependencies {
        self.dependencies
    }

    /// The hierarchy has changed.
    pub(crate) fn forget(&mut self) {
        self.known.clear();
    }

    pub(crate) fn of(&mut self, program: &mut Program, models: &Models, class: ClassId) -> Traits {
        if let Some(&traits) = self.known.get(&class) {
            return traits;
        }
        let layer = program.load(class).layer;
        let name = program.names.text(program.class(class).name).clone();
        let policy = if self.full_jdk { &models.full } else { &models.quiet };
        let throwable = program.class_id("java/lang/Throwable");
        let excluded = self.exclude.iter().any(|prefix| name.starts_with(prefix.as_str()));
        let is_missing = program.class(class).loaded == Loaded::Missing;
        let is_throwable = !program.class(class).is_array && program.is_subtype(class, throwable);
        let traits = Traits {
            opaque: excluded
                || layer == Layer::Jdk && policy.is_opaque(&name)
                || layer == Layer::Library && self.dependencies == Dependencies::Opaque,
            // What is missing may be anything, and is not lumped together for it.
            merged: policy.is_merged(&name) || layer == Layer::Jdk && is_throwable && !is_missing,
            throwable: is_throwable,
            container: layer == Layer::Jdk && policy.is_container(&name),
            layer,
        };
        self.known.insert(class, traits);
        traits
    }
}
