//! In which order methods are summarised: callees first, methods that call each other together, and whatever does
//! not depend on each other at the same time. Knows numbers and who needs whom; nothing of methods.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// One method that another one asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Need {
    pub number: u32,
    /// One of several that may be meant, or not asked for in the end.
    pub is_weak: bool,
}

/// Who needs whom.
pub(crate) trait Needs {
    /// One more than the greatest number.
    fn count(&self) -> usize;
    /// In ascending order.
    fn of(&self, node: u32) -> &[Need];
    /// By which nodes are put in order where there is a choice: it depends on content alone.
    fn rank(&self, node: u32) -> u64;
    /// What belongs together most.
    fn family(&self, node: u32) -> u64;
}

pub(crate) struct Order {
    /// Groups of nodes, in levels: nothing in a level needs anything of the same or a later one, but the members of one
    /// group may need each other.
    pub levels: Vec<Vec<Vec<u32>>>,
    /// What is needed and not waited for, in ascending order.
    pub cut: FxHashMap<u32, Vec<u32>>,
}

/// In large programs thousands of methods lead to each other, mostly through calls that may mean any of several
/// methods. To look at all of them until nothing changes takes long and tells little; what is left when such calls are
/// not followed back are groups of this size at most, nearly always.
const LARGEST: usize = 64;

pub(crate) fn order(needs: &impl Needs) -> Order {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut cut: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let all = |node: u32| needs.of(node).iter().map(|need| need.number);
    components(needs.count(), 0..needs.count() as u32, all, |group| match group.len() {
        0..=LARGEST => groups.push(group),
        _ => {
            let parts = parts(needs, group);
            add_cuts(needs, &parts, &mut cut);
            groups.extend(parts);
        }
    });
    Order { levels: levels(needs, groups, &cut), cut }
}

/// A large group in parts, those that others of it need first as far as possible: only what leads back to where a walk
/// through them came from is not waited for.
fn parts(needs: &impl Needs, mut group: Vec<u32>) -> Vec<Vec<u32>> {
    group.sort_unstable_by_key(|&node| needs.rank(node));
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let strong = inside(needs, &group, |_, need| !need.is_weak);
    components(
        needs.count(),
        group.iter().copied(),
        |node| strong[&node].iter().copied(),
        |mut part| {
            if part.len() <= LARGEST {
                parts.push(part);
                return;
            }
            part.sort_unstable_by_key(|&node| needs.rank(node));
            let near = inside(needs, &part, |node, need| {
                !need.is_weak && needs.family(node) == needs.family(need.number)
            });
            let near = |node: u32| near[&node].iter().copied();
            components(needs.count(), part.iter().copied(), near, |part| parts.push(part));
        },
    );
    walked(needs, parts)
}

/// The parts in the order in which a walk is done with them. It goes where it surely leads first.
fn walked(needs: &impl Needs, mut parts: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    let rank = |part: &Vec<u32>| part.iter().map(|&node| needs.rank(node)).min();
    parts.sort_by_cached_key(rank);
    let places = parts.iter().enumerate().flat_map(|(at, part)| part.iter().map(move |&node| (node, at)));
    let places: FxHashMap<u32, usize> = places.collect();
    let next = |at: usize| {
        let all = parts[at].iter().flat_map(|&node| needs.of(node));
        let mut next: Vec<(bool, usize)> =
            all.filter_map(|need| Some((need.is_weak, *places.get(&need.number)?))).collect();
        next.sort_unstable();
        next.dedup();
        next
    };
    let mut is_seen = vec![false; parts.len()];
    let mut done: Vec<usize> = Vec::with_capacity(parts.len());
    for root in 0..parts.len() {
        if std::mem::replace(&mut is_seen[root], true) {
            continue;
        }
        let mut work = vec![(root, next(root).into_iter())];
        while let Some((at, rest)) = work.last_mut() {
            match rest.next() {
                Some((_, to)) if !std::mem::replace(&mut is_seen[to], true) => {
                    work.push((to, next(to).into_iter()));
                }
                Some(_) => {}
                None => {
                    done.push(*at);
                    work.pop();
                }
            }
        }
    }
    done.into_iter().map(|at| std::mem::take(&mut parts[at])).collect()
}

/// Who needs whom among some, in the order of ranks.
fn inside(
    needs: &impl Needs,
    nodes: &[u32],
    is_kept: impl Fn(u32, &Need) -> bool,
) -> FxHashMap<u32, Vec<u32>> {
    let own: FxHashSet<u32> = nodes.iter().copied().collect();
    let of = |node: u32| {
        let kept = needs.of(node).iter().filter(|need| own.contains(&need.number) && is_kept(node, need));
        let mut kept: Vec<u32> = kept.map(|need| need.number).collect();
        kept.sort_unstable_by_key(|&node| needs.rank(node));
        kept
    };
    nodes.iter().map(|&node| (node, of(node))).collect()
}

/// Parts are not waited for by those that come before them.
fn add_cuts(needs: &impl Needs, parts: &[Vec<u32>], cut: &mut FxHashMap<u32, Vec<u32>>) {
    let places = parts.iter().enumerate().flat_map(|(at, part)| part.iter().map(move |&node| (node, at)));
    let places: FxHashMap<u32, usize> = places.collect();
    for (&node, at) in &places {
        let is_later = |need: &&Need| places.get(&need.number).is_some_and(|place| place > at);
        let later: Vec<u32> = needs.of(node).iter().filter(is_later).map(|need| need.number).collect();
        if !later.is_empty() {
            cut.insert(node, later);
        }
    }
}

fn levels(needs: &impl Needs, groups: Vec<Vec<u32>>, cut: &FxHashMap<u32, Vec<u32>>) -> Vec<Vec<Vec<u32>>> {
    let mut found: Vec<Vec<Vec<u32>>> = Vec::new();
    let mut level_of = vec![0u32; needs.count()];
    let mut group_of = vec![0usize; needs.count()];
    for (number, group) in groups.into_iter().enumerate() {
        group.iter().for_each(|&node| group_of[node as usize] = number + 1);
        let below = group.iter().flat_map(|&node| {
            let cut = cut.get(&node).map_or(&[][..], Vec::as_slice);
            let waits = needs.of(node).iter().filter(|need| cut.binary_search(&need.number).is_err());
            waits.map(|need| need.number as usize)
        });
        let below = below.filter(|&node| group_of[node] != number + 1);
        let level = below.map(|node| level_of[node] + 1).max().unwrap_or(0);
        group.iter().for_each(|&node| level_of[node as usize] = level);
        if found.len() <= level as usize {
            found.resize_with(level as usize + 1, Vec::new);
        }
        found[level as usize].push(group);
    }
    found
}

/// Tarjan's algorithm with a stack of its own: calls in programs nest deeper than threads can. `needs` gives for each of
/// the roots, and whatever they lead to, what it needs; all are less than `end`.
fn components<I: IntoIterator<Item = u32>>(
    end: usize,
    roots: impl Iterator<Item = u32>,
    needs: impl Fn(u32) -> I,
    mut found: impl FnMut(Vec<u32>),
) {
    const NEW: u32 = u32::MAX;
    let (mut index, mut low) = (vec![NEW; end], vec![0u32; end]);
    let mut on_path = vec![false; end];
    let (mut path, mut next): (Vec<u32>, u32) = (Vec::new(), 0);
    let mut work: Vec<(u32, I::IntoIter)> = Vec::new();
    for root in roots {
        let mut enter = Some(root).filter(|&root| index[root as usize] == NEW);
        loop {
            if let Some(node) = enter.take() {
                (index[node as usize], low[node as usize]) = (next, next);
                next += 1;
                path.push(node);
                on_path[node as usize] = true;
                work.push((node, needs(node).into_iter()));
            }
            let Some((node, below)) = work.last_mut() else { break };
            let node = *node as usize;
            match below.next() {
                Some(need) if index[need as usize] == NEW => enter = Some(need),
                Some(need) if on_path[need as usize] => low[node] = low[node].min(index[need as usize]),
                Some(_) => {}
                None => {
                    work.pop();
                    if let Some(&(above, _)) = work.last() {
                        low[above as usize] = low[above as usize].min(low[node]);
                    }
                    if low[node] == index[node] {
                        let start = path.iter().rposition(|&other| other as usize == node).unwrap_or(0);
                        let group = path.split_off(start);
                        group.iter().for_each(|&member| on_path[member as usize] = false);
                        found(group);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks and families are the numbers themselves, in tens.
    struct Graph(Vec<Vec<Need>>);

    impl Graph {
        fn strong(needs: &[&[u32]]) -> Graph {
            let need = |&number: &u32| Need { number, is_weak: false };
            Graph(needs.iter().map(|needs| needs.iter().map(need).collect()).collect())
        }
    }

    impl Needs for Graph {
        fn count(&self) -> usize {
            self.0.len()
        }

        fn of(&self, node: u32) -> &[Need] {
            &self.0[node as usize]
        }

        fn rank(&self, node: u32) -> u64 {
            u64::from(node)
        }

        fn family(&self, node: u32) -> u64 {
            u64::from(node) / 10
        }
    }

    fn sorted(order: Order) -> Vec<Vec<Vec<u32>>> {
        let sort = |mut level: Vec<Vec<u32>>| {
            level.iter_mut().for_each(|group| group.sort_unstable());
            level.sort();
            level
        };
        order.levels.into_iter().map(sort).collect()
    }

    #[test]
    fn callees_come_first_and_cycles_together() {
        // 0 calls 1, 1 and 2 call each other, 2 calls 3; 4 stands alone.
        let graph = Graph::strong(&[&[1], &[2], &[1, 3], &[], &[]]);
        let order = order(&graph);
        assert!(order.cut.is_empty());
        assert_eq!(sorted(order), [vec![vec![3], vec![4]], vec![vec![1, 2]], vec![vec![0]]]);
    }

    #[test]
    fn a_long_chain_does_not_fill_the_stack() {
        let needs = (0..200_000u32).map(|node| match node {
            0 => vec![],
            _ => vec![Need { number: node - 1, is_weak: false }],
        });
        assert_eq!(order(&Graph(needs.collect())).levels.len(), 200_000);
    }

    /// A ring of 200 in which every tenth step is a weak one.
    fn ring() -> Graph {
        let need = |node: u32| vec![Need { number: (node + 1) % 200, is_weak: node % 10 == 9 }];
        Graph((0..200).map(need).collect())
    }

    #[test]
    fn a_large_cycle_is_cut_where_it_is_weak() {
        let order = order(&ring());
        assert!(order.levels.iter().flatten().all(|group| group.len() == 1));
        // Only the way back is cut.
        assert_eq!(order.cut.values().map(Vec::len).sum::<usize>(), 1);
        assert!(order.cut.keys().all(|node| node % 10 == 9));
    }

    #[test]
    fn nothing_waits_for_what_comes_later() {
        let graph = ring();
        let order = order(&graph);
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        for level in &order.levels {
            for &node in level.iter().flatten() {
                let cut = order.cut.get(&node).map_or(&[][..], Vec::as_slice);
                let mut waits = graph.of(node).iter().filter(|need| !cut.contains(&need.number));
                assert!(waits.all(|need| seen.contains(&need.number)), "{node}");
            }
            seen.extend(level.iter().flatten());
        }
        assert_eq!(seen.len(), 200);
    }

    #[test]
    fn where_all_is_strong_families_stay_together() {
        let need = |node: u32| {
            let next = Need { number: (node + 1) % 100, is_weak: false };
            let back = Need { number: node / 10 * 10, is_weak: false };
            let mut needs = vec![next, back];
            needs.sort_unstable();
            needs.dedup();
            needs
        };
        let order = order(&Graph((0..100).map(need).collect()));
        assert!(order.levels.iter().flatten().all(|group| group.len() == 10));
    }
}
