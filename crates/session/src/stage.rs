//! What a stage of a run does, in words for whoever waits. Knows the names of the stages, and nothing of what happens in
//! them.

use crate::{ENTRY_POINTS, KEPT_STATE};

/// A stage and how far it is, as [`crate::Progress`] reports them: "following calls and objects (12,400 methods)".
pub fn progress_text(stage: &str, done: u64) -> String {
    let (purpose, unit) = match stage {
        "classes" => ("reading classes", "classes"),
        "summaries" => ("summarising each method by itself", "methods"),
        ENTRY_POINTS => ("looking for entry points", "entry points"),
        KEPT_STATE => ("reading the state of the last run", "classes"),
        "points-to" => ("following calls and objects", "methods"),
        "happens-before" => ("working out the order of threads and the locks they hold", "threads"),
        "races" => ("comparing accesses to the same memory", "pairs"),
        "deadlocks" => ("searching for lock-order cycles", "locks"),
        _ => (stage, "done"),
    };
    let unit = if done == 1 { unit.strip_suffix('s').unwrap_or(unit) } else { unit };
    match done {
        0 => purpose.to_owned(),
        _ => format!("{purpose} ({} {unit})", grouped(done)),
    }
}

/// `12,400`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_is_told_by_its_purpose() {
        assert_eq!(progress_text("points-to", 12400), "following calls and objects (12,400 methods)");
        assert_eq!(progress_text("races", 0), "comparing accesses to the same memory");
        assert_eq!(progress_text(ENTRY_POINTS, 1), "looking for entry points (1 entry point)");
    }

    #[test]
    fn what_is_no_stage_stays_as_it_is() {
        assert_eq!(progress_text("opening the program", 0), "opening the program");
    }

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!([7, 999, 1000, 27240317].map(grouped), ["7", "999", "1,000", "27,240,317"]);
    }
}
