//! What the schemas of other people's formats say of a document.

use serde_json::Value;

/// What is wrong with the document, formats of strings included; empty if it fits.
pub fn errors(schema: &str, document: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("a schema");
    let validator =
        jsonschema::options().should_validate_formats(true).build(&schema).expect("a valid schema");
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}
