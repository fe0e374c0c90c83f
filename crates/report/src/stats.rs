//! The table of `--stats`: sizes, seconds per stage, pairs surviving each stage. Lays out columns; knows
//! nothing of what the rows mean.

use findings::Stats;

/// Empty if there is nothing to show.
pub fn table(stats: &Stats) -> String {
    let count = |(name, count): &(String, u64)| (name.clone(), grouped(*count));
    let sections = [
        ("sizes", stats.sizes.iter().map(count).collect()),
        ("seconds", seconds(&stats.seconds)),
        ("pairs left after each stage", stats.pairs.iter().map(count).collect::<Vec<_>>()),
    ];
    let rows = || sections.iter().flat_map(|(_, rows)| rows);
    let names = rows().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let values = rows().map(|(_, value)| value.len()).max().unwrap_or(0);

    let mut out = String::new();
    for (title, rows) in sections.iter().filter(|(_, rows)| !rows.is_empty()) {
        out.push_str(title);
        out.push('\n');
        for (name, value) in rows {
            out.push_str(&format!("  {name:names$}  {value:>values$}\n"));
        }
    }
    out
}

fn seconds(stages: &[(String, f64)]) -> Vec<(String, String)> {
    let mut rows: Vec<_> =
        stages.iter().map(|(name, seconds)| (name.clone(), format!("{seconds:.3}"))).collect();
    if stages.len() > 1 {
        let total: f64 = stages.iter().map(|(_, seconds)| seconds).sum();
        rows.push(("total".to_owned(), format!("{total:.3}")));
    }
    rows
}

/// 1234567 → 1,234,567.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_times_add_up() {
        let stats = Stats {
            sizes: vec![("classes".into(), 120), ("facts".into(), 1_234_567)],
            seconds: vec![("lower".into(), 0.12), ("points-to".into(), 0.4301)],
            pairs: vec![("same location".into(), 4096), ("no common lock".into(), 2)],
        };
        let expected = "\
sizes
  classes               120
  facts           1,234,567
seconds
  lower               0.120
  points-to           0.430
  total               0.550
pairs left after each stage
  same location       4,096
  no common lock          2
";
        assert_eq!(table(&stats), expected);
    }

    #[test]
    fn nothing_measured_is_nothing_shown() {
        assert_eq!(table(&Stats::default()), "");
        let one = Stats { seconds: vec![("lower".into(), 1.0)], ..Stats::default() };
        assert_eq!(table(&one), "seconds\n  lower  1.000\n");
    }
}
