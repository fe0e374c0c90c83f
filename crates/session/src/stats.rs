//! Sizes of the solved state and what survived each stage of detection.

use crate::Options;
use crate::needed::Needed;
use detect::Detect;
use findings::Stats;
use happens_before::HappensBefore;
use ir::Program;
use pointsto::PointsTo;
use std::collections::BTreeSet;

pub(crate) fn collect(
    program: &Program,
    options: &Options,
    pointsto: &PointsTo,
    happens_before: &HappensBefore,
    detect: &Detect,
) -> Stats {
    let methods: BTreeSet<_> = pointsto.acts().map(|act| pointsto.method(act)).collect();
    let classes: BTreeSet<_> = methods.iter().map(|&method| program.method(method).class).collect();
    let app = methods
        .iter()
        .filter(|&&method| program.class(program.method(method).class).layer == classfile::Layer::App);
    let of_dependencies = methods
        .iter()
        .filter(|&&method| program.class(program.method(method).class).layer == classfile::Layer::Library);
    let sizes = [
        ("classes needed", Needed::of(program, options, [pointsto].into_iter()).classes.len()),
        ("classes reached", classes.len()),
        ("methods reached", methods.len()),
        ("application methods", app.count()),
        ("methods of dependencies", of_dependencies.count()),
        ("activations", pointsto.act_count()),
        ("variables", pointsto.variable_count()),
        ("objects", pointsto.objects().count()),
        ("edges", pointsto.edge_count()),
        ("facts", pointsto.facts() as usize),
        ("budget", options.budget() as usize),
        ("origins", happens_before.origins().count()),
    ];
    Stats {
        sizes: sizes.into_iter().map(|(name, size)| (name.to_string(), size as u64)).collect(),
        seconds: Vec::new(),
        pairs: detect.pairs(),
    }
}
