//! The table of rules. Puts them in columns; the words are those of [`findings::Rule`].

use findings::Rule;

/// One line for each rule: id, level, summary.
pub fn table() -> String {
    let width = Rule::ALL.iter().map(|rule| rule.id().len()).max().unwrap_or(0);
    let line = |rule: &Rule| format!("{:width$}  {:7}  {}\n", rule.id(), rule.level().id(), rule.summary());
    Rule::ALL.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_for_every_rule() {
        let table = table();
        assert_eq!(table.lines().count(), Rule::ALL.len());
        assert!(
            table.starts_with("race                   error    two accesses to the same memory"),
            "{table}"
        );
        assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    }
}
