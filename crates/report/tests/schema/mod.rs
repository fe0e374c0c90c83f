//! As much of JSON Schema as `docs/findings.schema.json` uses. A keyword it does not know fails, so that the
//! schema cannot outgrow its check.

use serde_json::{Map, Value};

/// What is wrong with the document, by path; empty if it fits.
pub fn errors(schema: &Value, document: &Value) -> Vec<String> {
    let mut errors = vec![];
    Checker { root: schema }.check(schema, document, "", &mut errors);
    errors
}

struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, path: &str, errors: &mut Vec<String>) {
        let keywords = schema.as_object().unwrap_or_else(|| panic!("{path}: a schema is an object"));
        for (keyword, rule) in keywords {
            if !self.holds(keyword, rule, keywords, value, path, errors) {
                errors.push(format!("{path}: {keyword} {rule} does not hold for {value}"));
            }
        }
    }

    /// Members and items report for themselves.
    fn holds(
        &self,
        keyword: &str,
        rule: &Value,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        errors: &mut Vec<String>,
    ) -> bool {
        let fits = |schema: &Value| {
            let mut errors = vec![];
            self.check(schema, value, path, &mut errors);
            errors.is_empty()
        };
        let items = value.as_array();
        let length = value.as_str().map(|text| text.chars().count() as u64);
        let count = items.map(|items| items.len() as u64);
        match keyword {
            "$schema" | "$defs" | "title" | "description" => true,
            "$ref" => {
                let pointer =
                    rule.as_str().and_then(|target| target.strip_prefix('#')).expect("a local reference");
                let target = self.root.pointer(pointer).unwrap_or_else(|| panic!("{rule} leads nowhere"));
                self.check(target, value, path, errors);
                true
            }
            "type" => has_type(value, rule.as_str().expect("one type")),
            "const" => value == rule,
            "enum" => rule.as_array().expect("an array").contains(value),
            "required" => {
                let has = |name: &Value| value.get(name.as_str().expect("a name")).is_some();
                rule.as_array().expect("an array").iter().all(has)
            }
            "properties" => {
                for (name, schema) in rule.as_object().expect("an object") {
                    if let Some(member) = value.get(name) {
                        self.check(schema, member, &format!("{path}/{name}"), errors);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known =
                    |name: &str| schema.get("properties").is_some_and(|named| named.get(name).is_some());
                for (name, member) in value.as_object().into_iter().flatten().filter(|(name, _)| !known(name))
                {
                    self.check(rule, member, &format!("{path}/{name}"), errors);
                }
                true
            }
            "items" => {
                for (at, item) in items.into_iter().flatten().enumerate() {
                    self.check(rule, item, &format!("{path}/{at}"), errors);
                }
                true
            }
            "minItems" => count.is_none_or(|count| count >= number(rule)),
            "maxItems" => count.is_none_or(|count| count <= number(rule)),
            "uniqueItems" => {
                items.is_none_or(|items| (1..items.len()).all(|n| !items[..n].contains(&items[n])))
            }
            "minLength" => length.is_none_or(|length| length >= number(rule)),
            "maxLength" => length.is_none_or(|length| length <= number(rule)),
            "minimum" => value.as_f64().is_none_or(|value| value >= rule.as_f64().expect("a number")),
            "oneOf" => rule.as_array().expect("an array").iter().filter(|schema| fits(schema)).count() == 1,
            "anyOf" => rule.as_array().expect("an array").iter().any(fits),
            other => panic!("{path}: keyword {other} is not known here"),
        }
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("type {other} is not known here"),
    }
}

fn number(rule: &Value) -> u64 {
    rule.as_u64().expect("a number")
}
