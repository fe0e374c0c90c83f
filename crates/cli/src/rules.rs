//! `snarl rules`: the table of all rules, or the page of one. Runs nothing.

use crate::{near, output};
use anyhow::{Result, bail};
use findings::Rule;

pub fn run(id: Option<&str>) -> Result<()> {
    let Some(id) = id else {
        return output::to_stdout(&format!("{}\n`snarl rules ID` tells more.\n", report::rules::table()));
    };
    match Rule::named(id) {
        Some(rule) => output::to_stdout(rule.page()),
        None => bail!("{}", unknown(id)),
    }
}

fn unknown(id: &str) -> String {
    let ids = Rule::ALL.map(Rule::id);
    let meant = match near::near(id, &ids)[..] {
        [] => String::new(),
        [one, ..] => format!("; did you mean {one}?"),
    };
    format!("no rule is called `{id}`{meant}\nThe rules are: {}.", ids.join(", "))
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn an_unknown_rule_is_answered_with_those_there_are() {
        let answer = unknown("dead-lock");
        assert!(answer.starts_with("no rule is called `dead-lock`; did you mean deadlock?\n"), "{answer}");
        assert!(answer.ends_with("blocking-main-thread, blocking-under-lock."), "{answer}");
        assert!(unknown("xyz").starts_with("no rule is called `xyz`\n"));
        assert!(unknown("guarded").starts_with("no rule is called `guarded`; did you mean guarded-by?\n"));
    }
}
