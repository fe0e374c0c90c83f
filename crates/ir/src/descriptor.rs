//! Field and method descriptors, read piece by piece. Knows their grammar only: no class is looked up here.

/// One type in a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type<'a> {
    /// One-slot primitive.
    Narrow,
    /// long or double: two slots.
    Wide,
    /// A reference by internal class name: `java/lang/String`, `[I`.
    Ref(&'a str),
}

impl<'a> Type<'a> {
    pub fn is_ref(self) -> bool {
        matches!(self, Type::Ref(_))
    }

    /// The class of a reference type.
    pub fn class(self) -> Option<&'a str> {
        match self {
            Type::Ref(name) => Some(name),
            Type::Narrow | Type::Wide => None,
        }
    }
}

/// The type a field descriptor names; `None` if it is malformed.
pub fn field_type(descriptor: &str) -> Option<Type<'_>> {
    match take_type(descriptor)? {
        (found, "") => Some(found),
        _ => None,
    }
}

/// The parameter types of a method descriptor in order; ends early if it is malformed.
pub fn parameters(descriptor: &str) -> Parameters<'_> {
    Parameters { rest: descriptor.strip_prefix('(').unwrap_or("") }
}

/// The result type of a method descriptor: `Some(None)` for void, `None` if the descriptor is malformed.
pub fn result(descriptor: &str) -> Option<Option<Type<'_>>> {
    let (parameters, result) = descriptor.strip_prefix('(')?.rsplit_once(')')?;
    let mut left = Parameters { rest: parameters };
    while left.next().is_some() {}
    if !left.rest.is_empty() {
        return None;
    }
    if result == "V" { Some(None) } else { field_type(result).map(Some) }
}

pub struct Parameters<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Parameters<'a> {
    type Item = Type<'a>;

    fn next(&mut self) -> Option<Type<'a>> {
        let (found, rest) = take_type(self.rest)?;
        self.rest = rest;
        Some(found)
    }
}

fn take_type(text: &str) -> Option<(Type<'_>, &str)> {
    match text.as_bytes().first()? {
        b'B' | b'C' | b'F' | b'I' | b'S' | b'Z' => Some((Type::Narrow, &text[1..])),
        b'J' | b'D' => Some((Type::Wide, &text[1..])),
        b'L' => {
            let end = text.find(';')?;
            (end > 1).then(|| (Type::Ref(&text[1..end]), &text[end + 1..]))
        }
        b'[' => {
            let dims = text.bytes().take_while(|&byte| byte == b'[').count();
            let (_, rest) = take_type(&text[dims..])?;
            (dims <= 255).then(|| (Type::Ref(&text[..text.len() - rest.len()]), rest))
        }
        _ => None,
    }
}

/// The class name of an array's elements, `Some(None)` if they are primitive; `None` if `name` is no array class.
pub fn element(name: &str) -> Option<Option<&str>> {
    if !name.starts_with('[') {
        return None;
    }
    match field_type(name)? {
        Type::Ref(_) => field_type(&name[1..]).map(Type::class),
        Type::Narrow | Type::Wide => None,
    }
}

/// The array class with elements of class `name`.
pub fn array_of(name: &str) -> String {
    if name.starts_with('[') { format!("[{name}") } else { format!("[L{name};") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_and_result_are_read_in_order() {
        let descriptor = "(IJ[[Ljava/lang/String;[DLbank/Account;)[I";
        let found: Vec<_> = parameters(descriptor).collect();
        assert_eq!(
            found,
            [
                Type::Narrow,
                Type::Wide,
                Type::Ref("[[Ljava/lang/String;"),
                Type::Ref("[D"),
                Type::Ref("bank/Account")
            ]
        );
        assert_eq!(result(descriptor), Some(Some(Type::Ref("[I"))));
        assert_eq!(result("()V"), Some(None));
    }

    #[test]
    fn malformed_descriptors_have_no_result() {
        for bad in ["", "()", "V", "(L)V", "(Lx)V", "(I", "(IQ)V", "()VV", "([)V", "()[", "(é)V"] {
            assert_eq!(result(bad), None, "{bad}");
        }
    }

    #[test]
    fn elements_of_array_classes() {
        assert_eq!(element("[I"), Some(None));
        assert_eq!(element("[[I"), Some(Some("[I")));
        assert_eq!(element("[Lbank/Account;"), Some(Some("bank/Account")));
        assert_eq!(element("bank/Account"), None);
        assert_eq!(element("["), None);
        assert_eq!(array_of("[I"), "[[I");
        assert_eq!(array_of("bank/Account"), "[Lbank/Account;");
    }
}
