//! Lines are followed through edits.

use super::*;
use std::time::{Duration, Instant};

/// Where each of the old lines is, each of which is one letter.
fn mapped(old: &str, new: &str) -> Vec<u32> {
    let lines = |text: &str| text.chars().map(String::from).collect::<Vec<_>>().join("\n");
    let map = LineMap::between(&lines(old), &lines(new));
    (1..=old.len() as u32).map(|line| map.map(line)).collect()
}

#[test]
fn lines_that_stay_are_found() {
    assert_eq!(mapped("abc", "abc"), [1, 2, 3]);
    assert_eq!(mapped("abc", "xabc"), [2, 3, 4]);
    assert_eq!(mapped("abc", "axxbc"), [1, 4, 5]);
    assert_eq!(mapped("axbycz", "abc"), [1, 2, 2, 3, 3, 3]);
    assert_eq!(mapped("abcdef", "abxcydef"), [1, 2, 4, 6, 7, 8]);
    assert_eq!(mapped("aaaa", "aaxaa"), [1, 2, 4, 5]);
}

#[test]
fn a_changed_line_keeps_its_place() {
    assert_eq!(mapped("abc", "axc"), [1, 2, 3]);
    assert_eq!(mapped("abcd", "axyd"), [1, 2, 3, 4]);
    assert_eq!(mapped("abc", "axyc"), [1, 2, 4]);
}

#[test]
fn a_removed_line_goes_to_the_next_that_was_there() {
    assert_eq!(mapped("abcd", "acd"), [1, 2, 2, 3]);
    assert_eq!(mapped("abcde", "axe"), [1, 2, 3, 3, 3]);
    assert_eq!(mapped("abc", "ab"), [1, 2, 2]);
}

#[test]
fn lines_that_are_not_there_stay_in_bounds() {
    let map = LineMap::between("a\nb", "a\nx\nb");
    assert_eq!((map.map(0), map.map(2), map.map(3), map.map(u32::MAX)), (0, 3, 3, 3));
    let map = LineMap::between("a\nb", "");
    assert_eq!((map.map(1), map.map(2)), (1, 1));
    let map = LineMap::between("", "a\nb");
    assert_eq!((map.map(1), map.map(2)), (1, 2));
    assert!(LineMap::between("a\nb", "a\r\nb").is_identity());
    assert!(!LineMap::between("a\nb", "a\nb\n").is_identity());
}

#[test]
fn partners_are_equal_lines_in_order_whatever_was_edited() {
    // Small numbers of different lines, so that many repeat.
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for size in [5, 40, 3000] {
        let kinds = size / 2 + 1;
        let old: Vec<String> = (0..size).map(|_| random(kinds).to_string()).collect();
        let mut new = old.clone();
        for _ in 0..1 + size / 10 {
            let at = random(new.len() as u64) as usize;
            match random(3) {
                0 => drop(new.remove(at)),
                1 => new.insert(at, random(kinds).to_string()),
                _ => new[at] = random(kinds).to_string(),
            }
        }
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
        let found = partners(&old, &new);
        let pairs: Vec<(usize, usize)> =
            found.iter().enumerate().filter_map(|(at, partner)| Some((at, (*partner)?))).collect();
        assert!(pairs.iter().all(|(a, b)| old[*a] == new[*b]));
        assert!(pairs.windows(2).all(|two| two[0].1 < two[1].1));
        assert!(pairs.len() * 4 > old.len() * 3, "{} of {}", pairs.len(), old.len());
    }
}

#[test]
fn large_files_are_mapped_at_once() {
    let old: Vec<String> =
        (0..20_000).map(|line| format!("    line{} = {};", line % 300, line % 7)).collect();
    let mut new = old.clone();
    new[10_000].push('x');
    new.insert(10_001, "inserted".to_owned());
    let (old, new) = (old.join("\n"), new.join("\n"));
    let began = Instant::now();
    let map = LineMap::between(&old, &new);
    // A hundredth of this is usual; machines are busy at times.
    assert!(began.elapsed() < Duration::from_millis(500), "{:?}", began.elapsed());
    assert_eq!((map.map(1), map.map(10_000), map.map(10_001), map.map(20_000)), (1, 10_000, 10_001, 20_001));
}

#[test]
fn large_changes_take_bounded_time() {
    let text = |seed: usize| {
        let lines = (0..20_000).map(|line| format!("x{}", line * seed % 5003 % 97));
        lines.collect::<Vec<_>>().join("\n")
    };
    let began = Instant::now();
    let map = LineMap::between(&text(17), &text(31));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert!((1..=20_000).all(|line| (1..=20_000).contains(&map.map(line))));
}
