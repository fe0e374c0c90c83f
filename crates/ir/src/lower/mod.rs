//! Bytecode to SSA bodies: [`listing`] decodes, [`blocks`] finds the control flow, [`live`] which locals matter
//! where, [`translate`] runs the code on a [`machine`] of variables and emits statements, [`ssa`] joins values at
//! block entries, [`finish`] numbers the result and [`merge`] mends needless cuts.
//! Knows one method at a time; what other classes hold is never asked.

mod blocks;
mod dynamic;
mod finish;
mod listing;
mod live;
mod machine;
mod merge;
mod names;
mod order;
mod ssa;
mod subroutines;
mod translate;

use crate::body::Body;
use crate::program::{MethodId, Program};
use classfile::{ClassFile, Code};

/// `Ok(None)` for methods without code; `Err` says why code could not be understood.
pub(crate) fn lower(program: &mut Program, method: MethodId) -> Result<Option<Body>, String> {
    let entry = program.method(method);
    let (class, selector) = (entry.class, entry.selector);
    if !entry.has_code {
        return Ok(None);
    }
    let (parsed, _) = program.parsed_class(class).ok_or("class no longer readable")?;
    let file = parsed.file();
    let (name, descriptor) = program.selector_text(selector);
    let found = file.methods.get(program.method_index[method] as usize);
    let code = found
        .filter(|found| found.name == name && found.descriptor == descriptor)
        .and_then(|found| found.code.as_ref())
        .ok_or("class changed while it was read")?;
    lower_code(program, method, file, code).map(Some)
}

fn lower_code(
    program: &mut Program,
    method: MethodId,
    file: &ClassFile<'_>,
    code: &Code<'_>,
) -> Result<Body, String> {
    let listing = listing::Listing::decode(file, code)?;
    let graph = blocks::Graph::build(&listing, code)?;
    let live = live::Live::compute(&listing, &graph);
    let draft = translate::translate(program, method, file, code, &listing, &graph, &live)?;
    let mut body = finish::finish(draft, graph, &listing);
    merge::merge(&mut body);
    Ok(body)
}
