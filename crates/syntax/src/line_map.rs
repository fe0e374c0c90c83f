//! Which line of a text a line of an older text has become. Compares whole lines and knows nothing of what they say.

use crate::position::{Lines, Span};
use std::collections::HashMap;

/// The largest product of two counts of lines that are compared each with each.
const TABLE: usize = 1 << 20;

/// Lines count from 1, as in class files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMap {
    old: usize,
    new: usize,
    /// How many lines are the same at the beginning and at the end.
    before: usize,
    after: usize,
    /// For each old line between them, counted from 0: its partner, or else where it would stand.
    middle: Vec<u32>,
}

impl LineMap {
    pub fn between(old_text: &str, new_text: &str) -> LineMap {
        let (old, new) = (split(old_text), split(new_text));
        let (before, after) = same_ends(&old, &new);
        let (from, to) = (&old[before..old.len() - after], &new[before..new.len() - after]);
        let partners = partners(from, to);
        let middle = settled(&partners, to.len()).into_iter().map(|line| (before + line) as u32).collect();
        LineMap { old: old.len(), new: new.len(), before, after, middle }
    }

    /// The line that an old one has become. One that was changed or removed takes the place of its stretch of
    /// such lines, as far as there are new ones, and else the next line that was there before. 0, which is no line,
    /// remains so.
    pub fn map(&self, old_line: u32) -> u32 {
        let Some(line) = (old_line as usize).checked_sub(1) else { return 0 };
        let new = if line < self.before {
            line
        } else if let Some(&partner) = self.middle.get(line - self.before) {
            partner as usize
        } else {
            (line.min(self.old - 1) + self.new).saturating_sub(self.old)
        };
        new.min(self.new - 1) as u32 + 1
    }

    /// Whether nothing differs.
    pub fn is_identity(&self) -> bool {
        self.old == self.new && self.middle.is_empty()
    }
}

fn split(text: &str) -> Vec<&str> {
    let lines = Lines::of(text);
    (0..lines.count()).map(|line| &text[lines.span(text, line as u32)]).collect()
}

fn same_ends(old: &[&str], new: &[&str]) -> (usize, usize) {
    let before = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[before..], &new[before..]);
    (before, old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count())
}

/// For each old line the new one that is the same, such that partners have the same order on both sides.
fn partners(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let mut partners = vec![None; old.len()];
    let mut todo = vec![(0..old.len(), 0..new.len())];
    while let Some((from, to)) = todo.pop() {
        let (before, after) = same_ends(&old[from.clone()], &new[to.clone()]);
        (0..before).for_each(|at| partners[from.start + at] = Some(to.start + at));
        (1..=after).for_each(|at| partners[from.end - at] = Some(to.end - at));
        let from = from.start + before..from.end - after;
        let to = to.start + before..to.end - after;
        if from.is_empty() || to.is_empty() {
            continue;
        }
        if from.len() * to.len() <= TABLE {
            for (a, b) in longest(&old[from.clone()], &new[to.clone()]) {
                partners[from.start + a] = Some(to.start + b);
            }
        } else {
            todo.extend(around(from.clone(), to.clone(), &unique(&old[from], &new[to])));
        }
    }
    partners
}

/// The stretches that begin at each anchor and before the first. Without anchors there is nothing to hold on to.
fn around(from: Span, to: Span, anchors: &[(usize, usize)]) -> Vec<(Span, Span)> {
    let starts = anchors.iter().map(|(a, b)| (from.start + a, to.start + b));
    let mut parts = Vec::new();
    let mut last: Option<(usize, usize)> = None;
    for (a, b) in starts {
        let (start, other) = last.unwrap_or((from.start, to.start));
        parts.push((start..a, other..b));
        last = Some((a, b));
    }
    parts.extend(last.map(|(a, b)| (a..from.end, b..to.end)));
    parts
}

/// A longest common subsequence.
fn longest(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    // How long the best one is from each pair of lines on.
    let mut best = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            best[a * width + b] = if old[a] == new[b] {
                best[(a + 1) * width + b + 1] + 1
            } else {
                best[(a + 1) * width + b].max(best[a * width + b + 1])
            };
        }
    }
    let (mut a, mut b) = (0, 0);
    let mut pairs = Vec::new();
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if best[(a + 1) * width + b] >= best[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

/// The lines that occur once on both sides, as many of them as have the same order there.
fn unique(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let (once, other) = (once(old), once(new));
    let mut pairs: Vec<(usize, usize)> =
        once.into_iter().filter_map(|(line, at)| Some((at?, (*other.get(line)?)?))).collect();
    pairs.sort_unstable();
    rising(&pairs)
}

/// Where each line is; none if it is in several places.
fn once<'s>(lines: &[&'s str]) -> HashMap<&'s str, Option<usize>> {
    let mut places = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        places.entry(*line).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places
}

/// A longest part of the pairs in which the second numbers rise too.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the last pair of the part of that length that ends lowest; for each pair, the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, b)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < *b);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut next = ends.last().copied();
    let mut part: Vec<(usize, usize)> = std::iter::from_fn(|| {
        let at = next?;
        next = previous[at];
        Some(pairs[at])
    })
    .collect();
    part.reverse();
    part
}

/// A place for the lines without a partner too; `new` is how many new lines there are.
fn settled(partners: &[Option<usize>], new: usize) -> Vec<usize> {
    let mut limits = vec![new; partners.len() + 1];
    for (at, partner) in partners.iter().enumerate().rev() {
        limits[at] = partner.unwrap_or(limits[at + 1]);
    }
    let mut free = 0;
    let place = |(at, partner): (usize, &Option<usize>)| {
        let line = partner.unwrap_or(free.min(limits[at]));
        free = if partner.is_some() { line + 1 } else { (line + 1).min(limits[at]) };
        line
    };
    partners.iter().enumerate().map(place).collect()
}

#[cfg(test)]
#[path = "tests/line_map.rs"]
mod tests;
