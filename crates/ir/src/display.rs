//! Names as people read them: `bank.Account.deposit(int)`, `int[]`, `bank/Account.java`. Owns that form only;
//! nothing may parse these texts back.

use crate::program::{ClassId, FieldId, MethodId, Program};
use track::{Kind, Read};

impl Program {
    /// `bank.Account.deposit(int)`: lambda bodies as `bank.Account.deposit(int) lambda`, without the parameters
    /// if the class has several methods of that name.
    pub fn method_display(&self, method: MethodId) -> String {
        let entry = self.method_ref(method);
        let class = self.class_display(entry.class);
        let (name, descriptor) = self.selector_text(entry.selector);
        match enclosing_of_lambda(name) {
            Some("") => format!("{class} lambda"),
            Some(enclosing) => {
                track::note(Read::of(Kind::MethodsIn, entry.class));
                let mut named = self.classes[entry.class].methods.iter().filter_map(|&other| {
                    let (name, descriptor) = self.selector_text(self.method_ref(other).selector);
                    (name == enclosing).then(|| parameters_display(descriptor))
                });
                let parameters = match (named.next(), named.next()) {
                    (Some(only), None) => only,
                    _ => String::new(),
                };
                format!("{class}.{enclosing}{parameters} lambda")
            }
            None => format!("{class}.{name}{}", parameters_display(descriptor)),
        }
    }

    /// `bank.Account`
    pub fn class_display(&self, class: ClassId) -> String {
        let name = self.class_name(class);
        if name.starts_with('[') { type_display(name) } else { name.replace('/', ".") }
    }

    /// `bank.Account.balance`
    pub fn field_display(&self, field: FieldId) -> String {
        let entry = self.field_ref(field);
        format!("{}.{}", self.class_display(entry.class), &self.names[entry.name])
    }

    /// `bank/Account.java`: package path plus source file name (guessed from the outermost class without one).
    pub fn class_file(&self, class: ClassId) -> String {
        let entry = self.class(class);
        let name = &self.names[entry.name];
        let package = name.rfind('/').map_or(0, |at| at + 1);
        let (package, simple) = name.split_at(package);
        match entry.source_file {
            Some(file) => format!("{package}{}", &self.names[file]),
            None => {
                // A leading dollar belongs to the name.
                let outermost = simple.char_indices().skip(1).find(|&(_, letter)| letter == '$');
                format!("{package}{}.java", &simple[..outermost.map_or(simple.len(), |(at, _)| at)])
            }
        }
    }
}

/// The method a compiler-made lambda body was written in, `""` if its name does not tell; `None` if `name` is
/// no lambda. javac: `lambda$deposit$0`; Scala: `$anonfun$deposit$1`; Kotlin: `deposit$lambda$0`.
fn enclosing_of_lambda(name: &str) -> Option<&str> {
    let numbered =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'$');
    if let Some(rest) = name.strip_prefix("lambda$").or_else(|| name.strip_prefix("$anonfun$")) {
        let enclosing = rest.rsplit_once('$').map_or("", |(enclosing, _)| enclosing);
        // Serializable lambdas: `lambda$deposit$bb2062c8$1`.
        let enclosing = match enclosing.rsplit_once('$') {
            Some((name, hash)) if hash.len() >= 6 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                name
            }
            _ => enclosing,
        };
        return Some(match enclosing {
            "new" => "<init>",
            "static" => "<clinit>",
            "null" => "",
            other => other,
        });
    }
    let (enclosing, number) = name.split_once("$lambda$")?;
    numbered(number).then_some(enclosing)
}

fn parameters_display(descriptor: &str) -> String {
    let inner = descriptor.strip_prefix('(').and_then(|rest| rest.split(')').next()).unwrap_or("");
    let mut types = Vec::new();
    let mut rest = inner;
    while !rest.is_empty() {
        let base = rest.trim_start_matches('[');
        let dims = rest.len() - base.len();
        let end = match base.chars().next() {
            Some('L') => base.find(';').map_or(base.len(), |at| at + 1),
            Some(letter) => letter.len_utf8(),
            None => 0,
        };
        types.push(type_display(&rest[..dims + end]));
        rest = &rest[dims + end..];
    }
    format!("({})", types.join(", "))
}

fn type_display(descriptor: &str) -> String {
    let base = descriptor.trim_start_matches('[');
    let dims = descriptor.len() - base.len();
    let name = match base {
        "B" => "byte",
        "C" => "char",
        "D" => "double",
        "F" => "float",
        "I" => "int",
        "J" => "long",
        "S" => "short",
        "Z" => "boolean",
        other => other.strip_prefix('L').map_or(other, |name| name.trim_end_matches(';')),
    };
    name.replace('/', ".") + &"[]".repeat(dims)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_read_as_in_source() {
        assert_eq!(parameters_display("(I[[JLjava/util/List;)V"), "(int, long[][], java.util.List)");
        assert_eq!(parameters_display("()V"), "()");
        assert_eq!(parameters_display("garbage"), "()");
        assert_eq!(parameters_display("([[)V"), "([][])");
    }

    #[test]
    fn lambdas_name_their_method() {
        assert_eq!(enclosing_of_lambda("lambda$deposit$0"), Some("deposit"));
        assert_eq!(enclosing_of_lambda("lambda$new$12"), Some("<init>"));
        assert_eq!(enclosing_of_lambda("lambda$deposit$bb2062c8$1"), Some("deposit"));
        assert_eq!(enclosing_of_lambda("lambda$null$3"), Some(""));
        assert_eq!(enclosing_of_lambda("$anonfun$main$1"), Some("main"));
        assert_eq!(enclosing_of_lambda("main$lambda$0"), Some("main"));
        assert_eq!(enclosing_of_lambda("deposit"), None);
    }
}
