//! Strongly connected components of any graph of numbers. Knows nothing of what they stand for.

/// The component of each node of a graph, given by its successors; successors have lower numbers.
pub fn of_nodes(successors: &[Vec<u32>]) -> Vec<u32> {
    components(successors).0
}

/// The component of each node, and the number of components. Tarjan's algorithm with an explicit stack.
pub fn components(successors: &[Vec<u32>]) -> (Vec<u32>, u32) {
    const UNSEEN: u32 = u32::MAX;
    let count = successors.len();
    let mut of = vec![UNSEEN; count];
    let mut found = 0;
    let (mut index, mut low) = (vec![UNSEEN; count], vec![0u32; count]);
    let mut open: Vec<u32> = Vec::new();
    let mut work: Vec<(u32, usize)> = Vec::new();
    let mut clock = 0;
    for root in 0..count as u32 {
        if index[root as usize] != UNSEEN {
            continue;
        }
        work.push((root, 0));
        while let Some((node, next)) = work.pop() {
            let at = node as usize;
            if next == 0 {
                index[at] = clock;
                low[at] = clock;
                clock += 1;
                open.push(node);
            } else {
                low[at] = low[at].min(low[successors[at][next - 1] as usize]);
            }
            let mut child = None;
            let mut n = next;
            while let Some(&to) = successors[at].get(n) {
                n += 1;
                if index[to as usize] == UNSEEN {
                    child = Some(to);
                    break;
                }
                if of[to as usize] == UNSEEN {
                    low[at] = low[at].min(index[to as usize]);
                }
            }
            if let Some(child) = child {
                work.push((node, n));
                work.push((child, 0));
            } else if low[at] == index[at] {
                while let Some(member) = open.pop() {
                    of[member as usize] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    (of, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collapses_cycles_and_orders_successors_first() {
        // 0 → 1 ⇄ 2 → 3, 4 → 4
        let (of, count) = components(&[vec![1], vec![2], vec![1, 3], vec![], vec![4]]);
        assert_eq!(count, 4);
        assert_eq!(of[1], of[2]);
        assert!(of[3] < of[1] && of[1] < of[0]);
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        let count = 200_000u32;
        let next = |at: u32| if at + 1 < count { vec![at + 1] } else { vec![0] };
        assert_eq!(components(&(0..count).map(next).collect::<Vec<_>>()).1, 1);
    }
}
