//! Method names as a Java developer would say them. Knows the compiler's naming habits and nothing else.

use super::look::clean;

/// `bank.Bank.lambda$main$0(bank.Account)` → `lambda in bank.Bank.main`, `bank.Account.<init>(int)` →
/// `new bank.Account(int)`; `java.lang.` in parameters is left out.
pub(crate) fn readable(method: &str) -> String {
    let method = clean(method);
    let (path, parameters) = match method.find('(') {
        Some(at) => method.split_at(at),
        None => (method.as_str(), ""),
    };
    let (class, name) = path.rsplit_once('.').unwrap_or(("", path));
    let parameters = parameters.replace("java.lang.", "");
    match name {
        "<init>" => format!("new {class}{parameters}"),
        "<clinit>" => format!("static initialiser of {class}"),
        _ => match enclosing(name) {
            Some("static") => format!("lambda in static initialiser of {class}"),
            Some("new") => format!("lambda in new {class}"),
            Some(outer) => format!("lambda in {class}.{outer}"),
            None => format!("{path}{parameters}"),
        },
    }
}

/// The method in which javac (`lambda$main$0`) or kotlinc (`main$lambda$0`) found this lambda.
fn enclosing(name: &str) -> Option<&str> {
    let (rest, number) = name.rsplit_once('$')?;
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let outer = rest.strip_prefix("lambda$").or_else(|| rest.strip_suffix("$lambda"))?;
    (!outer.is_empty()).then_some(outer)
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn ordinary_methods_keep_their_name() {
        assert_eq!(readable("bank.Account.deposit(int)"), "bank.Account.deposit(int)");
        assert_eq!(readable("bank.Main$1.run()"), "bank.Main$1.run()");
        assert_eq!(readable("bank.Main.main(java.lang.String[])"), "bank.Main.main(String[])");
        assert_eq!(readable("bank.Main.access$000()"), "bank.Main.access$000()");
        assert_eq!(readable("lambda$"), "lambda$");
        assert_eq!(readable(""), "");
    }

    #[test]
    fn lambdas_and_initialisers_are_named_by_where_they_are_written() {
        assert_eq!(readable("bank.Bank.lambda$main$0(bank.Account)"), "lambda in bank.Bank.main");
        assert_eq!(readable("bank.BankKt.main$lambda$3()"), "lambda in bank.BankKt.main");
        assert_eq!(readable("bank.Bank.lambda$new$1()"), "lambda in new bank.Bank");
        assert_eq!(readable("bank.Bank.lambda$static$1()"), "lambda in static initialiser of bank.Bank");
        assert_eq!(readable("bank.Account.<init>(int)"), "new bank.Account(int)");
        assert_eq!(readable("bank.Account.<clinit>()"), "static initialiser of bank.Account");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(readable("a.B.\u{1b}[31mx()"), "a.B.\u{fffd}[31mx()");
    }
}
