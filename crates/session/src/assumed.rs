//! Assumptions of the settings that are about nothing: names for which there is no class, field or method. Reads class
//! files and nothing else; what the others mean for findings is not its business.

use classfile::{ClassFile, ClassSource};
use findings::Note;
use models::Assumptions;

/// A note for each name that matches nothing, in the order of the settings.
pub fn unused_assumptions(source: &(dyn ClassSource + Sync), assume: &Assumptions) -> Vec<Note> {
    let is_field = |class: &ClassFile<'_>, name: &str| class.fields.iter().any(|field| field.name == name);
    let is_method =
        |class: &ClassFile<'_>, name: &str| class.methods.iter().any(|method| method.name == name);
    let confined = assume.confined.iter().filter(|name| {
        let is_class = class_names(name).any(|class| source.find(&class).is_some());
        !is_class && !has_member(source, name, is_field)
    });
    let confined = confined.map(|name| unused("confined", name, "class or field"));
    let methods = assume.never_parallel.iter().flatten();
    let methods = methods.filter(|name| !has_member(source, name, is_method));
    confined.chain(methods.map(|name| unused("never-parallel", name, "method"))).collect()
}

fn unused(key: &str, name: &str, what: &str) -> Note {
    let message = format!("`{key}` in `[assume]` names `{name}`; there is no such {what}");
    Note { kind: "unused-assumption".to_owned(), message, count: 1 }
}

fn has_member(
    source: &(dyn ClassSource + Sync),
    name: &str,
    is_such: impl Fn(&ClassFile<'_>, &str) -> bool,
) -> bool {
    let Some((class, member)) = name.rsplit_once('.') else { return false };
    class_names(class).any(|class| {
        let Some(found) = source.find(&class) else { return false };
        classfile::parse(&found.bytes).is_ok_and(|class| is_such(&class, member))
    })
}

/// The internal names a class may have that is written with dots: `a.B.C` is `a/B/C`, `a/B$C` or `a$B$C`.
fn class_names(name: &str) -> impl Iterator<Item = String> {
    let parts: Vec<String> = name.replace('/', ".").split('.').map(str::to_owned).collect();
    (0..parts.len()).map(move |nested| {
        let (packages, classes) = parts.split_at(parts.len() - 1 - nested);
        let class = classes.join("$");
        if packages.is_empty() { class } else { format!("{}/{class}", packages.join("/")) }
    })
}

#[cfg(test)]
mod tests {
    use super::class_names;

    #[test]
    fn a_nested_class_may_be_written_with_dots() {
        assert_eq!(class_names("a.B.C").collect::<Vec<_>>(), ["a/B/C", "a/B$C", "a$B$C"]);
        assert_eq!(class_names("B$C").collect::<Vec<_>>(), ["B$C"]);
    }
}
