//! Which classes can touch the fields of a class, by how these are declared. Knows names of classes, and no class.

use ir::access;

/// The wider, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scope {
    /// The class, and those inside it or around it.
    Nest,
    Package,
    Anywhere,
}

impl Scope {
    /// Of all fields with these access flags.
    pub fn of(flags: &[u16]) -> Scope {
        let scope = |flags: &u16| match flags & (access::PRIVATE | access::PROTECTED | access::PUBLIC) {
            access::PRIVATE => Scope::Nest,
            0 => Scope::Package,
            _ => Scope::Anywhere,
        };
        flags.iter().map(scope).max().unwrap_or(Scope::Nest)
    }

    /// Both by their names in class files.
    pub fn contains(self, class: &str, other: &str) -> bool {
        let package = class.rfind('/').map_or(0, |at| at + 1);
        match self {
            Scope::Nest => {
                // A leading dollar belongs to the name.
                let mut letters = class[package..].char_indices().skip(1);
                let inner = letters.find(|&(_, letter)| letter == '$');
                let outermost = &class[..inner.map_or(class.len(), |(at, _)| package + at)];
                let rest = other.strip_prefix(outermost);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('$'))
            }
            Scope::Package => other.strip_prefix(&class[..package]).is_some_and(|rest| !rest.contains('/')),
            Scope::Anywhere => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_field_is_touched_by_the_classes_around_it_and_inside_it() {
        let scope = Scope::of(&[access::PRIVATE]);
        for (other, is_inside) in [("a/B", true), ("a/B$C$1", true), ("a/BC", false), ("a/b/B", false)] {
            assert_eq!(scope.contains("a/B$C", other), is_inside, "{other}");
        }
        assert!(scope.contains("$B", "$B$1") && !scope.contains("$B", "$"));
    }

    #[test]
    fn the_widest_field_decides() {
        let scope = Scope::of(&[access::PRIVATE, access::STATIC]);
        assert_eq!(scope, Scope::Package);
        assert!(scope.contains("a/B", "a/C") && !scope.contains("a/B", "a/c/C"));
        assert!(scope.contains("B", "C") && !scope.contains("B", "a/C"));
        assert_eq!(Scope::of(&[access::PROTECTED]), Scope::Anywhere);
    }
}
