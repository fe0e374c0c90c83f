//! What an edit makes of a correct source is correct again: tried on the sources of this repository.

use crate::support::{Chance, rounds, sources};
use syntax::{FieldModifier, Position, Range, Source, TextEdit, apply};

#[test]
fn edits_of_correct_sources_are_correct() {
    let mut chance = Chance::new();
    let mut counts = [0; 7];
    for (_, text) in sources() {
        let source = Source::parse(text.as_str());
        if !source.is_correct() {
            continue;
        }
        for _ in 0..rounds() {
            let tried = tried(&source, &mut chance);
            tried.into_iter().zip(&mut counts).for_each(|(edits, count)| *count += made(&source, edits));
        }
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

fn tried(source: &Source, chance: &mut Chance) -> [Option<Vec<TextEdit>>; 7] {
    let line = chance.below(source.line_count() as usize) as u32;
    let places = [chance.place(source.text()), chance.place(source.text())];
    let [one, other] = places.map(|at| source.position(at));
    let (methods, fields) = (source.methods(), source.fields());
    let method = methods.get(chance.below(methods.len()));
    let field = fields.get(chance.below(fields.len()));
    let locks: Vec<Position> =
        source.text().match_indices("synchronized (").map(|(at, _)| source.position(at)).collect();
    [
        source.statement_at(line).and_then(|statement| source.wrap_in_synchronized(statement, "this")),
        source.wrap_in_synchronized(Range::new(one, other), "A.class"),
        source.suppress(line, "deadlock", "it is so"),
        method.and_then(|method| source.make_synchronized(method)),
        field.and_then(|field| source.add_field_modifier(field, FieldModifier::Volatile)),
        field.and_then(|field| source.add_field_modifier(field, FieldModifier::Final)),
        locks.windows(2).find_map(|two| source.swap_locks(two[0], two[1])),
    ]
}

fn made(source: &Source, edits: Option<Vec<TextEdit>>) -> usize {
    let Some(edits) = edits else { return 0 };
    let new = apply(source.text(), &edits);
    let again = Source::parse(new.as_str());
    assert!(again.is_correct() && again.is_balanced(), "{edits:?} of\n{}", source.text());
    assert_eq!(again.classes(), source.classes());
    1
}
