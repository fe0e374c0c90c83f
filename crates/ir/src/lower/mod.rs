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
use crate::parsed::{Member, ParsedClass};
use crate::program::{ClassId, MethodId, MethodRef, Program};
use crate::read::digest;
use std::sync::Arc;

/// `Ok(None)` for methods without code; `Err` says why code could not be understood.
pub(crate) fn lower(program: &mut Program, method: MethodId) -> Result<Option<Body>, String> {
    let entry = program.method(method);
    let (class, selector) = (entry.class, entry.selector);
    if !entry.has_code || program.declared_method(MethodRef { class, selector }).is_none() {
        return Ok(None);
    }
    let parsed = program.parsed_class(class)?;
    let member = parsed.member(program.method_index[method] as usize).ok_or(CHANGED)?;
    lower_member(program, &member)
}

/// The same for a method of this class file, which need not be that of the program.
pub(crate) fn lower_member(program: &mut Program, member: &Member<'_>) -> Result<Option<Body>, String> {
    let (file, method) = (member.file, member.code);
    let Some(code) = &method.code else { return Ok(None) };
    let listing = listing::Listing::decode(file, code)?;
    let graph = blocks::Graph::build(&listing, code)?;
    let live = live::Live::compute(&listing, &graph);
    let draft = translate::translate(program, method, file, code, &listing, &graph, &live)?;
    let mut body = finish::finish(draft, graph, &listing);
    merge::merge(&mut body);
    Ok(Some(body))
}

const CHANGED: &str = "class changed while it was read";

impl Program {
    /// The parsed bytes of a loaded class, from the cache or the class path.
    fn parsed_class(&mut self, class: ClassId) -> Result<Arc<ParsedClass>, String> {
        if let Some(parsed) = self.parsed.get(class) {
            return Ok(parsed);
        }
        let found =
            self.source.find(&self.names[self.class(class).name]).ok_or("class no longer readable")?;
        if self.digests[class] != Some(digest(&found)) {
            return Err(CHANGED.to_owned());
        }
        let parsed = Arc::new(ParsedClass::parse(found).map_err(|error| error.to_string())?);
        self.parsed.insert(class, parsed.clone());
        Ok(parsed)
    }
}
