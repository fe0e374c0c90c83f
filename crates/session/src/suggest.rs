//! What the user may have meant by a name that nothing has. Knows names and how close they are, nothing else.

/// The class whose name is meant: the same one in another package, or one spelt nearly so.
pub(crate) fn closest_class<'a>(name: &str, classes: &'a [String]) -> Option<&'a str> {
    let simple = |name: &str| name.rsplit(['.', '$']).next().unwrap_or(name).to_lowercase();
    let same = classes.iter().find(|class| simple(class) == simple(name));
    same.map(String::as_str).or_else(|| closest(name, classes.iter().map(String::as_str))).or_else(|| {
        let close = classes.iter().map(|class| (slips(&simple(name), &simple(class)), class));
        close.filter(|(slips, _)| slips.is_some()).min().map(|(_, class)| class.as_str())
    })
}

/// The name with the fewest slips, if there are few; the first of several.
pub(crate) fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let close = names.filter_map(|known| Some((slips(name, known)?, known)));
    close.min().map(|(_, known)| known)
}

/// Letters wrong, missing, too many or swapped; `None` if that is another word.
fn slips(name: &str, known: &str) -> Option<usize> {
    let slips = strsim::osa_distance(&name.to_lowercase(), &known.to_lowercase());
    (slips <= name.chars().count() / 3).then_some(slips)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str) -> Option<String> {
        let classes = ["bank.Account", "bank.Main", "bank.Main$Worker", "shop.Basket"].map(String::from);
        closest_class(name, &classes).map(str::to_string)
    }

    #[test]
    fn a_slip_of_the_finger_is_understood() {
        assert_eq!(class("bank.Mian").as_deref(), Some("bank.Main"));
        assert_eq!(class("bank.account").as_deref(), Some("bank.Account"));
        assert_eq!(class("Acount").as_deref(), Some("bank.Account"));
        assert_eq!(closest("depositt", ["deposit", "withdraw"].into_iter()), Some("deposit"));
    }

    #[test]
    fn a_package_forgotten_or_a_dot_for_a_dollar_is_understood() {
        assert_eq!(class("Basket").as_deref(), Some("shop.Basket"));
        assert_eq!(class("bank.Main.Worker").as_deref(), Some("bank.Main$Worker"));
    }

    #[test]
    fn another_word_is_no_slip() {
        assert_eq!(class("com.acme.Server"), None);
        assert_eq!(closest("run", ["main", "stop"].into_iter()), None);
    }
}
