//! Who starts whom, and who only after whom. Knows spawn sites; knows no statement besides.

use crate::bits::Bits;
use crate::joins::Covers;
use crate::origins::Origins;
use crate::types::{Origin, OriginKind};
use crate::unique::Unique;
use arena::{Id, IdSet, IndexVec};
use pointsto::Obj;
use rustc_hash::FxHashMap;

/// Who starts whom.
pub struct Tree {
    /// Sites by the origin that executes them.
    pub sites: IndexVec<Origin, Vec<usize>>,
    /// Each origin with all its descendants.
    pub below: IndexVec<Origin, Bits>,
    /// Descendants before their ancestors, as far as the spawn graph has no cycles.
    pub order: Vec<Origin>,
    /// Origins that have ended before this one starts.
    pub after: IndexVec<Origin, Bits>,
}

impl Tree {
    pub fn new(origins: &Origins, unique: &Unique, covers: &Covers) -> Tree {
        let count = origins.info.len();
        let mut sites: IndexVec<Origin, Vec<usize>> = (0..count).map(|_| Vec::new()).collect();
        for (at, site) in origins.sites.iter().enumerate() {
            for &parent in origins.of(site.act) {
                sites[parent].push(at);
            }
        }
        let started = |origin: Origin| {
            let mut children: Vec<Origin> = sites[origin].iter().map(|&at| origins.sites[at].child).collect();
            children.sort_unstable_by_key(|&child| origins.ranks[child]);
            children.dedup();
            children
        };
        let children: IndexVec<Origin, Vec<Origin>> = origins.info.ids().map(started).collect();
        let mut below: IndexVec<Origin, Bits> = IndexVec::new();
        for origin in origins.info.ids() {
            let mut seen = Bits::with_len(count);
            let mut left = vec![origin];
            // What class initialisers start is below every entry point as well.
            if origins.info[origin].kind == OriginKind::Entry {
                left.extend(origins.initialization().into_iter().flat_map(|init| &children[init]));
            }
            while let Some(next) = left.pop() {
                if seen.insert(next.index()) {
                    left.extend(&children[next]);
                }
            }
            below.push(seen);
        }
        let order = postorder(origins, &children);
        let after = started_after(origins, unique, covers);
        Tree { sites, below, order, after }
    }
}

fn postorder(origins: &Origins, children: &IndexVec<Origin, Vec<Origin>>) -> Vec<Origin> {
    let count = children.len();
    let mut order = Vec::with_capacity(count);
    let mut seen = Bits::with_len(count);
    for &root in &origins.in_order {
        if !seen.insert(root.index()) {
            continue;
        }
        let mut stack = vec![(root, children[root].clone())];
        while let Some((origin, left)) = stack.last_mut() {
            match left.pop() {
                Some(child) => {
                    if seen.insert(child.index()) {
                        stack.push((child, children[child].clone()));
                    }
                }
                None => {
                    order.push(*origin);
                    stack.pop();
                }
            }
        }
    }
    order
}

/// T2 starts after T1 has ended iff every spawn of T2 names T1's only handle, one concrete object, or one that
/// covers it, as one of those it waits for; or if all who start T2 start after T1; and so on along chains.
fn started_after(origins: &Origins, unique: &Unique, covers: &Covers) -> IndexVec<Origin, Bits> {
    let count = origins.info.len();
    let handle = |origin: Origin| {
        let mut handles = IdSet::new();
        for &at in &origins.sites_of[origin] {
            handles.union_with(&origins.sites[at].handles);
        }
        handles.single().filter(|&obj| unique.contains(obj))
    };
    let mut by_handle: FxHashMap<Obj, Vec<Origin>> = FxHashMap::default();
    for origin in origins.info.ids() {
        if let Some(handle) = handle(origin) {
            by_handle.entry(handle).or_default().push(origin);
        }
    }
    let direct = |origin: Origin| -> Vec<Origin> {
        let sites = &origins.sites_of[origin];
        let Some((&first, rest)) = sites.split_first() else { return Vec::new() };
        let everywhere = |after: &&IdSet<Obj>| rest.iter().all(|&at| origins.sites[at].after.contains(after));
        let handles = origins.sites[first].after.iter().filter(everywhere).filter_map(IdSet::single);
        let mut ended: IdSet<Obj> = handles.filter(|&handle| unique.contains(handle)).collect();
        ended.union_with(&covers.of(ended.iter()));
        let early = ended.iter().flat_map(|handle| by_handle.get(&handle).into_iter().flatten());
        early.copied().filter(|&early| early != origin).collect()
    };
    let direct: IndexVec<Origin, Vec<Origin>> = origins.info.ids().map(direct).collect();
    let mut after: IndexVec<Origin, Bits> = (0..count).map(|_| Bits::new()).collect();
    let mut is_done = direct.iter().all(|(_, early)| early.is_empty());
    while !is_done {
        is_done = true;
        for origin in origins.info.ids() {
            let parents = origins.info[origin].spawned_by.iter().map(|by| by.parent);
            let mut early = parents
                .filter(|&parent| parent != origin)
                .map(|parent| after[parent].clone())
                .reduce(|both, other| both.iter().filter(|&at| other.contains(at)).collect())
                .unwrap_or_default();
            for &ended in &direct[origin] {
                early.insert(ended.index());
                early.union_with(&after[ended]);
            }
            for ended in early.iter().filter(|&ended| ended != origin.index()) {
                is_done &= !after[origin].insert(ended);
            }
        }
    }
    after
}
