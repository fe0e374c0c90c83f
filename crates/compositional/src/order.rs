//! Which methods are summarised before which: callees first, those that call each other together, and whatever does
//! not depend on each other at the same time.

/// Groups of nodes, in levels: nothing in a level needs anything of the same or a later one, but the members of one
/// group may need each other. `needs` gives for each of `count` nodes the nodes that it needs.
pub(crate) fn levels<'a>(count: usize, needs: impl Fn(u32) -> &'a [u32]) -> Vec<Vec<Vec<u32>>> {
    let mut found: Vec<Vec<Vec<u32>>> = Vec::new();
    let mut level_of = vec![0u32; count];
    let (mut group_of, mut groups) = (vec![0u32; count], 0);
    components(count, &needs, |group| {
        groups += 1;
        group.iter().for_each(|&node| group_of[node as usize] = groups);
        let below = group.iter().flat_map(|&node| needs(node));
        let below = below.filter(|&&node| group_of[node as usize] != groups);
        let level = below.map(|&node| level_of[node as usize] + 1).max().unwrap_or(0);
        group.iter().for_each(|&node| level_of[node as usize] = level);
        if found.len() <= level as usize {
            found.resize_with(level as usize + 1, Vec::new);
        }
        found[level as usize].push(group.to_vec());
    });
    found
}

/// Tarjan's algorithm with a stack of its own: calls in programs nest deeper than threads can.
fn components<'a>(count: usize, needs: impl Fn(u32) -> &'a [u32], mut found: impl FnMut(&[u32])) {
    const NEW: u32 = u32::MAX;
    let (mut index, mut low) = (vec![NEW; count], vec![0u32; count]);
    let mut on_path = vec![false; count];
    let (mut path, mut next_index) = (Vec::new(), 0);
    let mut work: Vec<(u32, usize)> = Vec::new();
    for root in 0..count as u32 {
        if index[root as usize] != NEW {
            continue;
        }
        work.push((root, 0));
        while let Some(&mut (node, ref mut at)) = work.last_mut() {
            let node = node as usize;
            if *at == 0 {
                index[node] = next_index;
                low[node] = next_index;
                next_index += 1;
                path.push(node as u32);
                on_path[node] = true;
            }
            match needs(node as u32).get(*at) {
                Some(&need) => {
                    *at += 1;
                    let need = need as usize;
                    if index[need] == NEW {
                        work.push((need as u32, 0));
                    } else if on_path[need] {
                        low[node] = low[node].min(index[need]);
                    }
                }
                None => {
                    work.pop();
                    if let Some(&(above, _)) = work.last() {
                        low[above as usize] = low[above as usize].min(low[node]);
                    }
                    if low[node] == index[node] {
                        let start = path.iter().rposition(|&other| other as usize == node).unwrap_or(0);
                        let group = path.split_off(start);
                        group.iter().for_each(|&member| on_path[member as usize] = false);
                        found(&group);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_come_first_and_cycles_together() {
        // 0 calls 1, 1 and 2 call each other, 2 calls 3; 4 stands alone.
        let needs = vec![vec![1], vec![2], vec![1, 3], vec![], vec![]];
        let levels = levels(needs.len(), |node| &needs[node as usize]);
        let sorted: Vec<Vec<Vec<u32>>> = levels
            .into_iter()
            .map(|level| {
                let mut groups: Vec<Vec<u32>> = level
                    .into_iter()
                    .map(|mut group| {
                        group.sort_unstable();
                        group
                    })
                    .collect();
                groups.sort();
                groups
            })
            .collect();
        assert_eq!(sorted, [vec![vec![3], vec![4]], vec![vec![1, 2]], vec![vec![0]]]);
    }

    #[test]
    fn a_long_chain_does_not_fill_the_stack() {
        let needs: Vec<Vec<u32>> =
            (0..200_000u32).map(|node| if node == 0 { vec![] } else { vec![node - 1] }).collect();
        assert_eq!(levels(needs.len(), |node| &needs[node as usize]).len(), 200_000);
    }
}
