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
    /// By number.
    pub places: Vec<Place>,
    /// What is needed and not waited for, in ascending order.
    pub cut: FxHashMap<u32, Vec<u32>>,
}

/// Where a method stands in the order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// When it is its turn: whatever it waits for comes earlier, but for those of its own group.
    pub turn: Turn,
    /// The same for all methods that are summarised together: the least of their numbers.
    pub group: u32,
    /// The same for all methods that lead to each other.
    component: u32,
    /// There are too many of these to summarise them together.
    is_large: bool,
}

/// How many components have to come before, at least, and how many groups of the same component.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Turn {
    component: u32,
    group: u32,
}

/// In large programs thousands of methods lead to each other, mostly through calls that may mean any of several
/// methods. To look at all of them until nothing changes takes long and tells little; what is left when such calls are
/// not followed back are groups of this size at most, nearly always.
const LARGEST: usize = 64;

pub(crate) fn order(needs: &impl Needs) -> Order {
    let mut places = vec![Place::default(); needs.count()];
    let mut cut: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let all = |node: u32| needs.of(node).iter().map(|need| need.number);
    // What a component needs is found before it.
    components(needs.count(), 0..needs.count() as u32, all, |found| {
        let component = found.iter().copied().min().unwrap_or_default();
        let is_large = found.len() > LARGEST;
        found.iter().for_each(|&node| {
            places[node as usize].component = component;
            places[node as usize].is_large = is_large;
        });
        let below = found.iter().flat_map(|&node| all(node)).map(|node| places[node as usize]);
        let below = below.filter(|place| place.component != component);
        let turn = below.map(|place| place.turn.component + 1).max().unwrap_or(0);
        let parts = if is_large { parts(needs, found) } else { vec![found] };
        if is_large {
            add_cuts(needs, &parts, &mut cut);
        }
        for part in parts {
            put_part(needs, &part, turn, &cut, &mut places);
        }
    });
    Order { places, cut }
}

/// Gives its place to one of the parts of a component. Those it waits for have theirs.
fn put_part(
    needs: &impl Needs,
    part: &[u32],
    component: u32,
    cut: &FxHashMap<u32, Vec<u32>>,
    places: &mut [Place],
) {
    let own = places[part[0] as usize].component;
    let waited = part.iter().flat_map(|&node| {
        let cut = cut.get(&node).map_or(&[][..], Vec::as_slice);
        let waits = needs.of(node).iter().filter(|need| cut.binary_search(&need.number).is_err());
        waits.map(|need| need.number)
    });
    let group = part.iter().copied().min().unwrap_or_default();
    part.iter().for_each(|&node| places[node as usize].group = group);
    let earlier = waited.map(|node| places[node as usize]);
    let earlier = earlier.filter(|place| place.component == own && place.group != group);
    let turn = Turn { component, group: earlier.map(|place| place.turn.group + 1).max().unwrap_or(0) };
    part.iter().for_each(|&node| places[node as usize].turn = turn);
}

/// Whether the order is what it was, and everybody still comes after what it waits for, although a method needs others.
/// Where that is hard to know it is said that it is not so.
pub(crate) fn is_as_before(places: impl Fn(u32) -> Place, node: u32, before: &[Need], now: &[Need]) -> bool {
    let own = places(node);
    // A way back to itself may come or go; whether it surely leads there decides where large components are cut.
    let may_come = |need: &Need| match places(need.number) {
        place if place.component == own.component => !own.is_large,
        place => place.turn.component < own.turn.component,
    };
    let may_go =
        |need: &Need| need.number == node && !own.is_large || places(need.number).component != own.component;
    let is_in = |needs: &[Need], need: &Need| {
        needs.binary_search_by_key(&need.number, |other| other.number).is_ok_and(|at| needs[at] == *need)
    };
    now.iter().filter(|need| !is_in(before, need)).all(may_come)
        && before.iter().filter(|need| !is_in(now, need)).all(may_go)
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
    use std::collections::BTreeMap;

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

    /// Groups by their turns.
    fn levels(order: &Order) -> Vec<Vec<Vec<u32>>> {
        let mut turns: BTreeMap<Turn, BTreeMap<u32, Vec<u32>>> = BTreeMap::new();
        for (node, place) in order.places.iter().enumerate() {
            turns.entry(place.turn).or_default().entry(place.group).or_default().push(node as u32);
        }
        turns.into_values().map(|groups| groups.into_values().collect()).collect()
    }

    #[test]
    fn callees_come_first_and_cycles_together() {
        // 0 calls 1, 1 and 2 call each other, 2 calls 3; 4 stands alone.
        let graph = Graph::strong(&[&[1], &[2], &[1, 3], &[], &[]]);
        let order = order(&graph);
        assert!(order.cut.is_empty());
        assert_eq!(levels(&order), [vec![vec![3], vec![4]], vec![vec![1, 2]], vec![vec![0]]]);
    }

    #[test]
    fn a_long_chain_does_not_fill_the_stack() {
        let needs = (0..200_000u32).map(|node| match node {
            0 => vec![],
            _ => vec![Need { number: node - 1, is_weak: false }],
        });
        assert_eq!(levels(&order(&Graph(needs.collect()))).len(), 200_000);
    }

    /// A ring of 200 in which every tenth step is a weak one.
    fn ring() -> Graph {
        let need = |node: u32| vec![Need { number: (node + 1) % 200, is_weak: node % 10 == 9 }];
        Graph((0..200).map(need).collect())
    }

    #[test]
    fn a_large_cycle_is_cut_where_it_is_weak() {
        let order = order(&ring());
        assert!(levels(&order).iter().flatten().all(|group| group.len() == 1));
        // Only the way back is cut.
        assert_eq!(order.cut.values().map(Vec::len).sum::<usize>(), 1);
        assert!(order.cut.keys().all(|node| node % 10 == 9));
    }

    #[test]
    fn nothing_waits_for_what_comes_later() {
        let graph = ring();
        let order = order(&graph);
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        for level in &levels(&order) {
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
        assert!(levels(&order).iter().flatten().all(|group| group.len() == 10));
    }

    /// Random changes of random graphs, some of them with components that are cut. Whenever the order is said to be as
    /// before, it is, and the turns of before are right for the graph as it is now.
    #[test]
    fn an_order_that_is_said_to_stay_does() {
        let mut random = 7u64;
        let mut below = |end: u32| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) as u32 % end
        };
        let mut stayed = 0;
        for round in 0..60 {
            let count = 150;
            // Ways lead mostly down; in every third graph often enough up for a large component.
            let mut draw = |node: u32| match below(if round % 3 == 0 { 4 } else { 40 }) {
                0 => below(count),
                _ => below(node + 1),
            };
            let mut needs = |node: u32| {
                let mut some: Vec<u32> = (0..2).map(|_| draw(node)).collect();
                some.sort_unstable();
                some.dedup();
                some.into_iter().map(|number| Need { number, is_weak: number % 3 == 0 }).collect::<Vec<_>>()
            };
            let mut graph = Graph((0..count).map(&mut needs).collect());
            for node in (0..count).step_by(7) {
                let before = order(&graph);
                let now = needs(node);
                let place = |node: u32| before.places[node as usize];
                let stays = is_as_before(place, node, graph.of(node), &now);
                graph.0[node as usize] = now;
                if !stays {
                    continue;
                }
                stayed += 1;
                let after = order(&graph);
                assert_eq!(before.cut, after.cut);
                for node in 0..count {
                    let cut = after.cut.get(&node).map_or(&[][..], Vec::as_slice);
                    assert_eq!(place(node).group, after.places[node as usize].group, "{node}");
                    for need in graph.of(node).iter().filter(|need| !cut.contains(&need.number)) {
                        let (own, other) = (place(node), place(need.number));
                        assert!(own.group == other.group || other.turn < own.turn, "{node}");
                    }
                }
            }
        }
        assert!(stayed > 200, "{stayed}");
    }
}
