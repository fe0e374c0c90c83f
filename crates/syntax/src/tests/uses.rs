use super::*;

/// The line of a method of a class with a field `n`, with `[ ]` around uses and `{ }` around assigned ones.
fn shown(statement: &str) -> String {
    let source = Source::parse(format!("class C {{\nint n;\nvoid m(C o) {{\n{statement}\n}}\n}}"));
    let mut out = String::new();
    let mut at = 0;
    for one in source.field_uses_on(3, "n") {
        let [open, close] = if one.is_assigned { ["{", "}"] } else { ["[", "]"] };
        out.extend([&statement[at..one.columns.start], open, &statement[one.columns.clone()], close]);
        at = one.columns.end;
    }
    out + &statement[at..]
}

#[test]
fn literals_comments_and_methods_are_no_fields() {
    assert_eq!(shown("log(\"n\", 'n', n /* n */, n()); // n"), "log(\"n\", 'n', [n] /* n */, n()); // n");
}

#[test]
fn local_variables_are_no_fields() {
    assert_eq!(shown("int n = this.n; o.n = n;"), "int n = this.[n]; o.{n} = n;");
    assert_eq!(shown("run(n -> n + 1, n);"), "run(n -> n + 1, [n]);");
}

#[test]
fn assigned_uses_are_told_from_others() {
    assert_eq!(shown("n = n + 1; n++; --o.n; o.n += n;"), "{n} = [n] + 1; {n}++; --o.{n}; o.{n} += [n];");
    assert_eq!(shown("a[n] = n == 1 ? o.n : nn;"), "a[[n]] = [n] == 1 ? o.[n] : nn;");
}

#[test]
fn a_declaration_is_an_assigned_use() {
    let source = Source::parse("class C { int n = 1; }");
    assert_eq!(source.field_uses_on(0, "n"), [FieldUse { columns: 14..15, is_assigned: true }]);
    assert_eq!(source.field_uses_on(7, "n"), []);
    assert_eq!(source.field_uses_on(0, "é"), []);
}
