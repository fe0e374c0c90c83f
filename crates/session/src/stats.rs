//! Sizes of the solved state and what survived each stage of detection.

use detect::Detect;
use findings::Stats;
use happens_before::HappensBefore;
use ir::{ClassId, Loaded, Program};
use pointsto::PointsTo;
use std::collections::BTreeSet;

pub(crate) fn collect(
    program: &Program,
    pointsto: &PointsTo,
    happens_before: &HappensBefore,
    detect: &Detect,
) -> Stats {
    let methods: BTreeSet<_> = pointsto.acts().map(|act| pointsto.method(act)).collect();
    let classes: BTreeSet<_> = methods.iter().map(|&method| program.method(method).class).collect();
    let app = methods
        .iter()
        .filter(|&&method| program.class(program.method(method).class).layer == classfile::Layer::App);
    let loaded = (0..program.class_count())
        .filter(|&n| program.class(ClassId(n as u32)).loaded == Loaded::Yes)
        .count();
    let sizes = [
        ("classes loaded", loaded),
        ("classes reached", classes.len()),
        ("methods reached", methods.len()),
        ("application methods", app.count()),
        ("activations", pointsto.act_count()),
        ("variables", pointsto.variable_count()),
        ("objects", pointsto.objects().count()),
        ("edges", pointsto.edge_count()),
        ("facts", pointsto.facts() as usize),
        ("origins", happens_before.origins().count()),
    ];
    Stats {
        sizes: sizes.into_iter().map(|(name, size)| (name.to_string(), size as u64)).collect(),
        seconds: Vec::new(),
        pairs: detect.pairs(),
    }
}
