//! Long common subsequences of two lists of numbers. Knows nothing of what the numbers mean.

/// So many differences are looked at together. Beyond them the best way so far is taken and the search starts again
/// from its end: the work is bounded by this times the length, and what is found is still common and in order,
/// though perhaps not the longest.
const FARTHEST: usize = 128;

/// Tells the pairs of positions that go together, ascending in both; what begins and ends both lists is among them.
pub(super) fn common(old: &[u32], new: &[u32], mut pair: impl FnMut(usize, usize)) {
    let ahead = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    (0..ahead).for_each(|at| pair(at, at));
    let (inner_old, inner_new) = (&old[ahead..], &new[ahead..]);
    let behind =
        inner_old.iter().rev().zip(inner_new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - behind, new.len() - behind);
    let (mut from_old, mut from_new) = (ahead, ahead);
    while from_old < old_end && from_new < new_end {
        let (pairs, ends) = search(&old[from_old..old_end], &new[from_new..new_end]);
        pairs.iter().rev().for_each(|&(x, y)| pair(from_old + x, from_new + y));
        (from_old, from_new) = (from_old + ends.0, from_new + ends.1);
    }
    (0..behind).for_each(|at| pair(old_end + at, new_end + at));
}

/// Myers, "An O(ND) difference algorithm": the farthest point on each diagonal `x - y` after 0, 1, 2 … differences.
/// The pairs of the chosen way, last first, and where it ends.
fn search(old: &[u32], new: &[u32]) -> (Vec<(usize, usize)>, (usize, usize)) {
    let (width, height) = (old.len() as isize, new.len() as isize);
    let middle = FARTHEST as isize + 1;
    let mut farthest = vec![0isize; 2 * FARTHEST + 3];
    let mut rounds: Vec<Vec<isize>> = Vec::new();
    for differences in 0..=FARTHEST as isize {
        for diagonal in (-differences..=differences).step_by(2) {
            let (from, step) = before(&farthest, middle, differences, diagonal);
            let mut x = if differences == 0 { 0 } else { from + step };
            let mut y = x - diagonal;
            while x < width && y < height && old[x as usize] == new[y as usize] {
                (x, y) = (x + 1, y + 1);
            }
            farthest[(middle + diagonal) as usize] = x;
            if x >= width && y >= height {
                return (way(&rounds, middle, (x, y)), (x as usize, y as usize));
            }
        }
        rounds.push(farthest.clone());
    }
    let last = FARTHEST as isize;
    let ends = (-last..=last).step_by(2).filter_map(|diagonal| {
        let x = farthest[(middle + diagonal) as usize];
        let y = x - diagonal;
        (x <= width && y <= height).then_some((x, y))
    });
    // No way inside: give up on the rest.
    let (x, y) = ends.max_by_key(|&(x, y)| x + y).unwrap_or((width, height));
    rounds.pop();
    (way(&rounds, middle, (x, y)), (x as usize, y as usize))
}

/// The `x` of the point that a way with so many differences comes from, and 1 if the next step is one along `old`.
fn before(farthest: &[isize], middle: isize, differences: isize, diagonal: isize) -> (isize, isize) {
    let (below, above) =
        (farthest[(middle + diagonal - 1) as usize], farthest[(middle + diagonal + 1) as usize]);
    if diagonal == -differences || diagonal != differences && below < above { (above, 0) } else { (below, 1) }
}

/// Back along the diagonals from a point that was reached one difference after the last of these rounds.
fn way(rounds: &[Vec<isize>], middle: isize, end: (isize, isize)) -> Vec<(usize, usize)> {
    let (mut x, mut y) = end;
    let mut pairs = Vec::new();
    for (differences, farthest) in rounds.iter().enumerate().rev() {
        let diagonal = x - y;
        let (from, step) = before(farthest, middle, differences as isize + 1, diagonal);
        let start = from + step;
        while x > start {
            (x, y) = (x - 1, y - 1);
            pairs.push((x as usize, y as usize));
        }
        (x, y) = (from, from - (diagonal + 1 - 2 * step));
    }
    while x > 0 && y > 0 {
        (x, y) = (x - 1, y - 1);
        pairs.push((x as usize, y as usize));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        common(old, new, |x, y| found.push((x, y)));
        for pair in found.windows(2) {
            assert!(pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1, "{found:?}");
        }
        for &(x, y) in &found {
            assert_eq!(old[x], new[y]);
        }
        found
    }

    fn longest(old: &[u32], new: &[u32]) -> usize {
        let mut table = vec![vec![0; new.len() + 1]; old.len() + 1];
        for x in 0..old.len() {
            for y in 0..new.len() {
                table[x + 1][y + 1] =
                    if old[x] == new[y] { table[x][y] + 1 } else { table[x][y + 1].max(table[x + 1][y]) };
            }
        }
        table[old.len()][new.len()]
    }

    #[test]
    fn short_lists_get_their_longest_common_subsequence() {
        let mut seed = 7u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for _ in 0..3000 {
            let mut list = || -> Vec<u32> { (0..random(30)).map(|_| random(6)).collect() };
            let (old, new) = (list(), list());
            assert_eq!(pairs(&old, &new).len(), longest(&old, &new), "{old:?} {new:?}");
        }
    }

    #[test]
    fn long_lists_with_nothing_in_common_are_given_up_on() {
        let old: Vec<u32> = (0..200_000).collect();
        let new: Vec<u32> = (200_000..400_000).collect();
        assert_eq!(pairs(&old, &new), []);
        // Every other element is common: far more differences than are looked at together.
        let new: Vec<u32> = old.iter().map(|&n| if n % 2 == 0 { n } else { n + 400_000 }).collect();
        assert_eq!(pairs(&old, &new).len(), 100_000);
    }
}
