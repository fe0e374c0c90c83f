//! Method signatures as model files write them: `name(ParamSimpleTypes)`, or `name(*)` for all overloads.

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signature {
    pub name: String,
    /// Simple type names; `None` stands for all overloads.
    pub params: Option<Vec<String>>,
}

impl Signature {
    /// `None` if the text is no signature.
    pub fn parse(text: &str) -> Option<Signature> {
        let (name, params) = text.strip_suffix(')')?.split_once('(')?;
        let is_name = |name: &str| !name.is_empty() && !name.contains(['(', ')', '*', '.', ' ']);
        if !is_name(name) {
            return None;
        }
        let params = match params.trim() {
            "*" => None,
            "" => Some(Vec::new()),
            list => Some(list.split(',').map(|param| param.trim().replace("...", "[]")).collect()),
        };
        if params.iter().flatten().any(|param| !is_name(param)) {
            return None;
        }
        Some(Signature { name: name.to_owned(), params })
    }
}

/// The simple type names of a method descriptor's parameters: `(Ljava/util/Map$Entry;[I)V` is `Entry`, `int[]`.
pub(crate) fn simple_params(descriptor: &str) -> Vec<String> {
    let mut params = Vec::new();
    let mut rest = descriptor.strip_prefix('(').unwrap_or(descriptor);
    while !rest.is_empty() && !rest.starts_with(')') {
        let element = rest.trim_start_matches('[');
        let dimensions = rest.len() - element.len();
        let (mut name, after) = match element.strip_prefix('L').and_then(|class| class.split_once(';')) {
            Some((class, after)) => (class.rsplit(['/', '$']).next().unwrap_or(class).to_owned(), after),
            None => (primitive(element).to_owned(), element.get(1..).unwrap_or_default()),
        };
        name.push_str(&"[]".repeat(dimensions));
        params.push(name);
        rest = after;
    }
    params
}

fn primitive(descriptor: &str) -> &'static str {
    match descriptor.as_bytes().first() {
        Some(b'Z') => "boolean",
        Some(b'B') => "byte",
        Some(b'C') => "char",
        Some(b'S') => "short",
        Some(b'I') => "int",
        Some(b'J') => "long",
        Some(b'F') => "float",
        Some(b'D') => "double",
        _ => "?",
    }
}
