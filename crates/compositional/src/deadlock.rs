//! Locks that are taken in a circle: who holds one and wants the next, method by method, joined by what kind of lock
//! it is. Reads summaries only.

use crate::engine::Compositional;
use crate::link::{digest, field_digest};
use crate::path::{LockKind, Path, Root, Step};
use crate::summary::{Held, Nested, Thread};
use arena::Id;
use classfile::Layer;
use findings::Confidence;
use ir::{ClassId, FieldId, MethodId, Program, access};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, VecDeque};

/// What two locks must have in common to be taken for the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Kind {
    /// Of what it is about: the order of kinds must not depend on ids.
    digest: u64,
    of: Of,
    lock: LockKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Of {
    Static(FieldId),
    Class(ClassId),
    Field(FieldId),
    /// The object itself, of this class or below it.
    Object(ClassId),
}

impl Kind {
    /// `bank.Account.lock`, `bank.Bank.class`, `bank.Account (this)`.
    pub(crate) fn name(&self, program: &Program) -> String {
        match self.of {
            Of::Static(field) | Of::Field(field) => program.field_display(field),
            Of::Class(class) => format!("{}.class", program.class_display(class)),
            Of::Object(class) => format!("{} (this)", program.class_display(class)),
        }
    }

    /// There is one such lock only.
    fn is_one(&self) -> bool {
        matches!(self.of, Of::Static(_) | Of::Class(_))
    }
}

/// One method that holds a lock and wants another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge<'a> {
    pub from: Kind,
    pub to: Kind,
    pub method: MethodId,
    pub nested: &'a Nested,
    pub held: &'a Held,
}

#[derive(Debug, Clone)]
pub(crate) struct Cycle<'a> {
    pub edges: Vec<Edge<'a>>,
    pub confidence: Confidence,
    pub why: Vec<String>,
}

/// Longer circles are rarely more than a coincidence of names.
const LONGEST: usize = 4;
/// So many ways from one lock to another are tried.
const MOST_WITNESSES: usize = 6;

pub(crate) fn cycles<'a>(engine: &'a Compositional, program: &Program) -> Vec<Cycle<'a>> {
    let graph = graph(engine, program);
    let mut found = Vec::new();
    let mut seen: FxHashSet<Vec<Kind>> = FxHashSet::default();
    for (&(from, to), witnesses) in &graph {
        let Some(kinds) = shortest(&graph, to, from) else { continue };
        let mut nodes = kinds.clone();
        nodes.sort_unstable();
        if !seen.insert(nodes) {
            continue;
        }
        let next = kinds.windows(2).map(|pair| graph[&(pair[0], pair[1])].as_slice());
        let ways: Vec<&[Edge<'a>]> = std::iter::once(witnesses.as_slice()).chain(next).collect();
        found.extend(best(engine, program, &ways));
    }
    found
}

pub(crate) type Graph<'a> = BTreeMap<(Kind, Kind), Vec<Edge<'a>>>;

pub(crate) fn graph<'a>(engine: &'a Compositional, program: &Program) -> Graph<'a> {
    let mut graph: Graph<'a> = BTreeMap::new();
    for slot in engine.methods.iter().filter(|slot| slot.size.nested > 0) {
        let (method, Some(summary)) = (&slot.method, slot.summary.get()) else { continue };
        if program.class(method.class).layer != Layer::App {
            continue;
        }
        for nested in &summary.nested {
            // Who has it already does not wait for it.
            if engine.held_by_callers(method.id).contains(&nested.lock) {
                continue;
            }
            let Some(to) = kind(program, method.id, &nested.lock) else { continue };
            for held in nested.held.iter().filter(|held| held.sure && held.lock != nested.lock) {
                let Some(from) = kind(program, method.id, &held.lock) else { continue };
                graph.entry((from, to)).or_default().push(Edge { from, to, method: method.id, nested, held });
            }
        }
    }
    for edges in graph.values_mut() {
        edges.sort_by_cached_key(|edge| {
            (
                edge.nested.site.via.is_some(),
                edge.nested.of_several,
                edge.nested.held.len(),
                engine.name_of(edge.method),
                edge.nested.site.at,
                edge.nested.lock.name_digest(program),
                edge.held.lock.name_digest(program),
            )
        });
        edges.truncate(MOST_WITNESSES);
    }
    graph
}

/// What kind of lock a path of a method leads to.
pub(crate) fn kind(program: &Program, method: MethodId, lock: &Path) -> Option<Kind> {
    let of = match (lock.last(), lock.root) {
        (Some(Step::Field(field)), _) => of_field(program, field),
        (Some(_), _) => return None,
        (None, Root::Static(field)) => Of::Static(field),
        (None, Root::Class(class)) => Of::Class(class),
        (None, Root::Param(number)) => {
            let class = (*program.method(method).params.get(usize::from(number))?)?;
            is_ours(program, class).then(|| Of::Object(topmost(program, class)))?
        }
        (None, Root::Made(_) | Root::Unknown) => return None,
    };
    let digest = match of {
        Of::Static(field) | Of::Field(field) => field_digest(program, field),
        Of::Class(class) | Of::Object(class) => digest(program.class_name(class)),
    };
    Some(Kind { digest, of, lock: lock.lock })
}

/// The class that the object of a lock is declared with.
fn class_of(program: &Program, method: MethodId, lock: &Path) -> Option<ClassId> {
    let class = match (lock.last(), lock.root) {
        (Some(Step::Field(field)), _) | (None, Root::Static(field)) => program.field(field).class_of?,
        (None, Root::Param(number)) => (*program.method(method).params.get(usize::from(number))?)?,
        _ => return None,
    };
    is_ours(program, class).then_some(class)
}

fn of_field(program: &Program, field: FieldId) -> Of {
    let class = program.field(field).class_of;
    match class.filter(|&class| is_ours(program, class)) {
        Some(class) => Of::Object(topmost(program, class)),
        None => Of::Field(field),
    }
}

fn is_ours(program: &Program, class: ClassId) -> bool {
    let entry = program.class(class);
    entry.loaded == ir::Loaded::Yes && entry.layer != Layer::Jdk && !entry.is_array
}

/// Objects of a class and of its subclasses are locked in methods of both.
fn topmost(program: &Program, class: ClassId) -> ClassId {
    program.superclasses(class).take_while(|&class| is_ours(program, class)).last().unwrap_or(class)
}

/// The kinds on the shortest way, both ends included.
fn shortest(graph: &Graph<'_>, from: Kind, to: Kind) -> Option<Vec<Kind>> {
    let mut before: FxHashMap<Kind, Option<Kind>> = FxHashMap::from_iter([(from, None)]);
    let mut queue = VecDeque::from([(from, 1)]);
    while let Some((at, length)) = queue.pop_front() {
        if at == to {
            let mut way: Vec<Kind> = std::iter::successors(Some(at), |at| before[at]).collect();
            way.reverse();
            return Some(way);
        }
        if length >= LONGEST {
            continue;
        }
        let first = (at, Kind { digest: 0, of: Of::Static(FieldId::new(0)), lock: LockKind::Monitor });
        for (&(_, next), _) in graph.range(first..).take_while(|((start, _), _)| *start == at) {
            before.entry(next).or_insert_with(|| {
                queue.push_back((next, length + 1));
                Some(at)
            });
        }
    }
    None
}

/// The first choice of one edge for each step that nothing rules out.
fn best<'a>(engine: &Compositional, program: &Program, ways: &[&[Edge<'a>]]) -> Option<Cycle<'a>> {
    let mut chosen: Vec<Edge<'a>> = Vec::new();
    if !choose(engine, program, ways, &mut chosen) {
        return None;
    }
    let mut why = vec!["no other lock is held around all of them".to_owned()];
    let mut confidence = confidence(engine, program, &chosen, &mut why);
    if chosen.iter().any(|edge| edge.nested.of_several) {
        why.push("a call on the way may lead to another method".into());
        confidence = Confidence::Low;
    }
    if chosen.iter().any(|edge| holds_such(program, edge)) {
        why.push("a lock of the kind that is wanted is held already, perhaps the same one".into());
        confidence = Confidence::Low;
    }
    Some(Cycle { edges: chosen, confidence, why })
}

/// Is another lock of the wanted kind held besides?
fn holds_such(program: &Program, edge: &Edge<'_>) -> bool {
    let others = edge.nested.held.iter().filter(|held| held.lock != edge.held.lock);
    others.filter_map(|held| kind(program, edge.method, &held.lock)).any(|kind| kind == edge.to)
}

fn choose<'a>(
    engine: &Compositional,
    program: &Program,
    ways: &[&[Edge<'a>]],
    chosen: &mut Vec<Edge<'a>>,
) -> bool {
    let Some((first, rest)) = ways.split_first() else { return is_possible(engine, program, chosen) };
    for edge in *first {
        chosen.push(*edge);
        if choose(engine, program, rest, chosen) {
            return true;
        }
        chosen.pop();
    }
    false
}

fn is_possible(engine: &Compositional, program: &Program, edges: &[Edge<'_>]) -> bool {
    let threads = edges
        .iter()
        .map(|edge| engine.summary(edge.method).map_or(Thread::Unknown, |summary| summary.thread));
    if edges.len() > 1 && threads.clone().count() == threads.filter(|thread| *thread == Thread::Main).count()
    {
        return false;
    }
    if are_never_parallel(engine, program, edges) {
        return false;
    }
    // A lock that all hold keeps them apart.
    let others = |edge: &Edge<'_>| -> FxHashSet<Kind> {
        let kinds = edge.nested.held.iter().filter(|held| held.sure && held.lock != edge.held.lock);
        kinds.filter_map(|held| kind(program, edge.method, &held.lock)).collect()
    };
    let mut gates = others(&edges[0]);
    for edge in &edges[1..] {
        let theirs = others(edge);
        gates.retain(|gate| theirs.contains(gate));
    }
    // Of one method alone it is a lock that there is only once.
    if gates.iter().any(|gate| edges.len() > 1 || gate.is_one()) {
        return false;
    }
    // The object that one waits for and the next one holds must be able to be the same.
    let is_one = |edge: &Edge<'_>, next: &Edge<'_>| {
        let wanted = class_of(program, edge.method, &edge.nested.lock);
        let held = class_of(program, next.method, &next.held.lock);
        let (Some(wanted), Some(held)) = (wanted, held) else { return true };
        program.is_subtype_loaded(wanted, held) || program.is_subtype_loaded(held, wanted)
    };
    if !(0..edges.len()).all(|at| is_one(&edges[at], &edges[(at + 1) % edges.len()])) {
        return false;
    }
    // Who reads does not keep out who reads.
    let blocks = |edge: &Edge<'_>, next: &Edge<'_>| !(edge.nested.shared && next.held.shared);
    (0..edges.len()).all(|at| blocks(&edges[at], &edges[(at + 1) % edges.len()]))
}

/// Are two of the methods declared never to run in parallel, or one of them beside itself where it is alone?
fn are_never_parallel(engine: &Compositional, program: &Program, edges: &[Edge<'_>]) -> bool {
    let groups = |edge: &Edge<'_>| engine.knowledge.exclusive_groups(program, edge.method);
    let share =
        |one: &Edge<'_>, other: &Edge<'_>| groups(one).iter().any(|group| groups(other).contains(group));
    match edges {
        [edge] => share(edge, edge),
        _ => (0..edges.len()).any(|at| edges[at + 1..].iter().any(|other| share(&edges[at], other))),
    }
}

/// Over more calls than this a way is easily one that nobody goes.
const FARTHEST: u8 = 2;

/// How many calls lie between the two locks.
fn depth(engine: &Compositional, edge: &Edge<'_>) -> u8 {
    let Some((callee, digest)) = edge.nested.site.via else { return 0 };
    let taken = engine.summary(callee).and_then(|summary| {
        let at = summary.taken.binary_search_by_key(&digest, |taken| taken.digest).ok()?;
        Some(summary.taken[at].depth)
    });
    taken.map_or(u8::MAX, |depth| depth.saturating_add(1))
}

fn confidence(
    engine: &Compositional,
    program: &Program,
    edges: &[Edge<'_>],
    why: &mut Vec<String>,
) -> Confidence {
    let calls = edges.iter().filter(|edge| edge.nested.site.via.is_some()).count();
    if let [edge] = edges {
        if edge.held.lock.leads_to(&edge.nested.lock) || edge.nested.lock.leads_to(&edge.held.lock) {
            why.push("one leads to the other: they may always be taken in the same order".into());
            return Confidence::Low;
        }
        why.push("the two may be the other way round in another call".into());
        return if edge.held.lock.root == edge.nested.lock.root {
            Confidence::Low
        } else {
            Confidence::Medium
        };
    }
    let is_there_once = edges.iter().all(|edge| edge.from.is_one() && edge.to.is_one());
    let is_own =
        |edge: &Edge<'_>| edge.held.lock.root == Root::Param(0) && edge.nested.lock.root == Root::Param(0);
    let class = |edge: &Edge<'_>| program.method_ref(edge.method).class;
    let is_one_object = edges.iter().all(|edge| is_own(edge) && class(edge) == class(&edges[0]));
    let is_final = |edge: &Edge<'_>| match edge.from.of {
        Of::Field(field) => program.field(field).access & access::FINAL != 0,
        _ => true,
    };
    let is_certain = is_there_once || (is_one_object && edges.iter().all(is_final));
    match () {
        () if is_certain && edges.iter().any(|edge| depth(engine, edge) > FARTHEST) => {
            why.push("one lock is taken many calls after the other".into());
            Confidence::Medium
        }
        () if is_certain && edges.iter().any(|edge| engine.is_mostly_called_under_locks(edge.method)) => {
            why.push("most calls of it in the program are made under some lock, perhaps the same one".into());
            Confidence::Medium
        }
        () if is_there_once => Confidence::High,
        () if is_certain => {
            why.push("nothing in the program shows that two threads use one object".into());
            Confidence::Medium
        }
        () if edges.len() == 2 => {
            why.push("the objects may be others in each".into());
            Confidence::Medium
        }
        () => {
            why.push("the objects may be others in each".into());
            if calls > 2 { Confidence::Low } else { Confidence::Medium }
        }
    }
}
