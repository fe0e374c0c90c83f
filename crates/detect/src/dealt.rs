//! Objects that are dealt out: each instance of a thread is given an element of an array or collection, and the
//! object was put in there once. Knows bodies and who runs them; whether the elements come one by one is guessed.

use crate::Stages;
use crate::anchor::{Anchor, plain};
use classfile::Layer;
use happens_before::Origin;
use ir::cfg::{Dominators, Edges, Loop, Loops};
use ir::{Body, CallKind, MethodRef, StmtId, StmtKind, Var};
use pointsto::{Act, Obj, Site};
use track::{Kind, Read};

/// Which activations run at all.
pub(crate) const ANY_ACT: Read = Read::all(Kind::Runs);

/// Does the origin have the object from its task only, on all these ways, and each instance a task of its own?
pub(crate) fn are_from_task<'w>(
    stages: &Stages<'_>,
    origin: Origin,
    mut ways: impl Iterator<Item = &'w Anchor>,
) -> bool {
    let info = stages.happens_before.origin(origin);
    let Some(task) = info.task.filter(|_| info.own_task) else { return false };
    let is_captured = stages.pointsto.lambda(task).is_some();
    ways.all(|way| match way.fields[..] {
        [] => is_captured && way.top().act == info.entry,
        [_] => way.top().obj == task,
        _ => false,
    })
}

/// Does each task of the origin get another one?
pub(crate) fn is_dealt(stages: &Stages<'_>, origin: Origin, obj: Obj) -> bool {
    let task = stages.happens_before.origin(origin).task;
    task.is_some_and(|task| is_given_element(stages, task, obj)) && is_put_once(stages, obj)
}

/// Is the task made in the rounds of one loop, which runs once, and with an element that each round gets anew?
fn is_given_element(stages: &Stages<'_>, task: Obj, obj: Obj) -> bool {
    let Site::Alloc(method, made) = stages.pointsto.object(task).site else { return false };
    let Some(body) = stages.program.lowered(method).filter(|body| body.stmts.get(made).is_some()) else {
        return false;
    };
    let given: Vec<Var> = match &body.stmts[made].kind {
        StmtKind::Lambda { captures, .. } => captures.clone(),
        StmtKind::New { dst, .. } => {
            let constructs = |kind: &StmtKind| match kind {
                StmtKind::Call { target, args, .. } if args.first() == Some(dst) => {
                    (stages.program.selector_text(target.selector).0 == "<init>").then(|| args[1..].to_vec())
                }
                _ => None,
            };
            body.stmts.iter().filter_map(|(_, info)| constructs(&info.kind)).flatten().collect()
        }
        _ => return false,
    };
    track::note(Read::of(Kind::ActsOf, method));
    let mut acts = stages.pointsto.acts().filter(|&act| stages.pointsto.method(act) == method);
    let (Some(act), None) = (acts.next(), acts.next()) else { return false };
    let loops = loops(body);
    let mut around = loops_around(&loops, body, made);
    let (Some(rounds), None) = (around.next(), around.next()) else { return false };
    let holds = |&var: &Var| body.vars[var].is_ref && stages.pointsto.pts(act, var).contains(obj);
    let mut given = given.into_iter().filter(holds);
    let (Some(var), None) = (given.next(), given.next()) else { return false };
    stages.happens_before.executes_once(act, StmtId(0)) && is_element(stages, body, rounds, var)
}

/// Got in the loop itself: at an index that each round changes, or from what is asked whether there is more.
fn is_element(stages: &Stages<'_>, body: &Body, rounds: &Loop, var: Var) -> bool {
    let definition = |var: Var| body.vars[plain(body, var)].def.map(|def| &body.stmts[def]);
    let changes = |index: &Var| {
        let index = definition(*index);
        index.is_some_and(|at| matches!(at.kind, StmtKind::Phi { .. }) && at.block == rounds.header)
    };
    let is_library = |target: MethodRef| stages.program.class(target.class).layer == Layer::Jdk;
    let is_asked = |from: Var| {
        let mut branches = body.stmts.iter().filter_map(|(_, info)| match info.kind {
            StmtKind::Branch { a, .. } if rounds.blocks.contains(&info.block) => definition(a),
            _ => None,
        });
        branches.any(|asked| match &asked.kind {
            StmtKind::Call { target, args, .. } => {
                is_library(*target) && args.len() == 1 && plain(body, args[0]) == plain(body, from)
            }
            _ => false,
        })
    };
    let Some(element) = definition(var).filter(|at| rounds.blocks.contains(&at.block)) else { return false };
    match &element.kind {
        StmtKind::LoadElem { index, .. } => changes(index),
        StmtKind::Call { target, args, .. } if is_library(*target) => match &args[..] {
            [from] => is_asked(*from),
            [_, index] => changes(index),
            _ => false,
        },
        _ => false,
    }
}

/// Is there one statement that puts the object into an array, or gives it to the library, which runs once for
/// each such object?
fn is_put_once(stages: &Stages<'_>, obj: Obj) -> bool {
    let mut puts: Vec<(Act, StmtId, Var)> = Vec::new();
    track::note(ANY_ACT);
    for act in stages.pointsto.acts() {
        let method = stages.pointsto.method(act);
        let class = stages.program.class(stages.program.method_ref(method).class);
        let Some(body) = stages.program.lowered(method).filter(|_| class.layer != Layer::Jdk) else {
            continue;
        };
        for (stmt, info) in body.stmts.iter() {
            let given = match &info.kind {
                StmtKind::StoreElem { src, .. } => std::slice::from_ref(src),
                StmtKind::Call { target, args, kind, .. }
                    if stages.program.class(target.class).layer == Layer::Jdk =>
                {
                    &args[usize::from(*kind != CallKind::Static)..]
                }
                _ => continue,
            };
            let given = given.iter().filter(|&&var| body.vars[var].is_ref);
            let given = given.filter(|&&var| stages.pointsto.pts(act, var).contains(obj));
            puts.extend(given.map(|&var| (act, stmt, var)));
        }
    }
    let [(act, stmt, var)] = puts[..] else { return false };
    let hb = stages.happens_before;
    if hb.unique(obj) {
        return hb.executes_once(act, stmt);
    }
    let Some(body) = stages.program.lowered(stages.pointsto.method(act)) else { return false };
    let Some(made) = body.vars[plain(body, var)].def else { return false };
    let loops = loops(body);
    let rounds =
        |stmt: StmtId| loops_around(&loops, body, stmt).map(|around| around.header).collect::<Vec<_>>();
    matches!(body.stmts[made].kind, StmtKind::New { .. } | StmtKind::NewArray { .. })
        && rounds(made) == rounds(stmt)
}

fn loops(body: &Body) -> Loops {
    Loops::new(body, &Dominators::new(body, Edges::All), Edges::All)
}

fn loops_around<'l>(loops: &'l Loops, body: &Body, stmt: StmtId) -> impl Iterator<Item = &'l Loop> {
    let block = body.stmts[stmt].block;
    loops.loops.iter().filter(move |around| around.blocks.contains(&block))
}
