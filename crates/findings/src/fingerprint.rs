//! Stable identity of a finding: rule, field and both methods with their access kinds. Knows no line numbers, nor the
//! numbers that compilers give to lambdas and anonymous classes.

use crate::Finding;

impl Finding {
    /// What it is known by from run to run; several findings may have the same.
    pub fn fingerprint(&self) -> &str {
        if self.cause.is_empty() { &self.id } else { &self.cause }
    }

    /// Every field that the same cause affects, without numbers.
    pub fn affected(&self) -> impl Iterator<Item = String> {
        let one = self.field.iter().filter(|_| self.fields.is_empty());
        self.fields.iter().chain(one).map(|field| unnumbered(field))
    }
}

/// 16 hex digits from the parts; the order of the parts matters (sort symmetric sides first). Names may stand in the
/// parts as the class file has them.
pub fn fingerprint(parts: &[&str]) -> String {
    let parts: Vec<String> = parts.iter().map(|part| unnumbered(part)).collect();
    digest(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// 16 hex digits from the parts as they are.
pub fn digest(parts: &[&str]) -> String {
    // FNV-1a: a fixed, documented function, so that ids survive tool upgrades.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Without what changes when methods are put in another order, a lambda is added before another or a method overloaded:
/// `a.Main$1.run()` is `a.Main$.run()`, `a.Main.lambda$main$0(int)`, whose parameters are whatever it captures, is
/// `a.Main.lambda$main$`, and `a.Main.main(int) lambda` is `a.Main.main lambda`.
pub fn unnumbered(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '(' => match after.split_once(')') {
                Some((_, after)) if is_lambda(&out) || after.starts_with(" lambda") => after,
                _ => {
                    out.push(c);
                    after
                }
            },
            '$' => {
                out.push(c);
                after.trim_start_matches(|c: char| c.is_ascii_digit())
            }
            _ => {
                out.push(c);
                after
            }
        };
    }
    out
}

/// Whether a text ends with the name of a lambda: `lambda$main$` for javac, `main$lambda$` for kotlinc.
fn is_lambda(text: &str) -> bool {
    let name = text.rsplit(['.', ' ']).next().unwrap_or(text);
    name.starts_with("lambda$") || name.contains("$lambda$")
}

#[cfg(test)]
mod tests {
    use super::{fingerprint, unnumbered};

    /// The value is part of users' baselines: if this fails, every recorded finding becomes "new".
    #[test]
    fn the_function_is_frozen() {
        assert_eq!(fingerprint(&[]), "cbf29ce484222325");
        let id = fingerprint(&["race", "bank.Account.balance", "bank.Account.deposit(int)", "write"]);
        assert_eq!(id, "2ba68a385dfb6997");
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(fingerprint(&["ab", "c"]), fingerprint(&["a", "bc"]));
        assert_ne!(fingerprint(&["a"]), fingerprint(&["a", ""]));
    }

    #[test]
    fn numbers_that_a_compiler_gives_are_left_out() {
        for (name, expected) in [
            ("Write a.Main.lambda$main$12(a.Bank, int)", "Write a.Main.lambda$main$"),
            ("a.MainKt.main$lambda$0(a.Bank)", "a.MainKt.main$lambda$"),
            ("Write a.Main.main(java.lang.String[]) lambda", "Write a.Main.main lambda"),
            ("a.Main.main(", "a.Main.main("),
            ("a.Main$1.run()", "a.Main$.run()"),
            ("a.Main$1Local.step(int)", "a.Main$Local.step(int)"),
            ("a.MainKt$main$1.invoke()", "a.MainKt$main$.invoke()"),
            ("a.Main$Inner.step1(int)", "a.Main$Inner.step1(int)"),
            ("Acquire a.A.lambda$x$0(int) a.A.lock (x)", "Acquire a.A.lambda$x$ a.A.lock (x)"),
        ] {
            assert_eq!(unnumbered(name), expected);
        }
    }
}
