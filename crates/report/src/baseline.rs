//! A baseline as a file: JSON with one finding a line, sorted, so that versions of it can be merged and compared line by
//! line. Knows nothing of where the file is.

use findings::{Accepted, Baseline, Confidence};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub const SCHEMA: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Line {
    fingerprint: String,
    /// Where there are several with this fingerprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    rule: String,
    confidence: String,
    message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
    /// Fingerprints of whatever has the same cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    members: Vec<String>,
    /// What identifies the accesses without a common lock, one entry for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unguarded: Vec<String>,
}

#[derive(Deserialize)]
struct Document {
    tool: Tool,
    rules: Vec<String>,
    findings: Vec<Line>,
}

#[derive(Deserialize)]
struct Tool {
    version: String,
}

pub fn render(baseline: &Baseline) -> String {
    let text = |value: &dyn Fn() -> serde_json::Result<String>| value().expect("strings always serialise");
    let version = text(&|| serde_json::to_string(&baseline.version));
    let rules = text(&|| serde_json::to_string(&baseline.rules));
    let lines: Vec<String> =
        baseline.findings.iter().map(|one| text(&|| serde_json::to_string(&line(one)))).collect();
    let findings =
        if lines.is_empty() { String::new() } else { format!("\n    {}\n  ", lines.join(",\n    ")) };
    format!(
        "{{\n  \"schema\": {SCHEMA},\n  \"tool\": {{ \"name\": \"snarl\", \"version\": {version} }},\n  \
         \"rules\": {rules},\n  \"findings\": [{findings}]\n}}\n"
    )
}

/// Or what is wrong with the text.
pub fn parse(text: &str) -> Result<Baseline, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not a baseline: {error}"))?;
    match value.get("schema").and_then(Value::as_u64) {
        Some(SCHEMA) => {}
        Some(newer) if newer > SCHEMA => {
            return Err(format!(
                "written by a newer version of Snarl (schema {newer}, this one knows {SCHEMA}); upgrade, or write it again"
            ));
        }
        _ => return Err("not a baseline: it has no schema number".to_owned()),
    }
    let document: Document =
        serde_json::from_value(value).map_err(|error| format!("not a baseline: {error}"))?;
    let findings = document.findings.into_iter().map(accepted).collect::<Result<_, String>>()?;
    Ok(Baseline { version: document.tool.version, rules: document.rules, findings })
}

fn line(one: &Accepted) -> Line {
    Line {
        fingerprint: one.fingerprint.clone(),
        id: (one.id != one.fingerprint).then(|| one.id.clone()),
        rule: one.rule.clone(),
        confidence: one.confidence.id().to_owned(),
        message: one.message.clone(),
        fields: one.fields.clone(),
        members: one.members.clone(),
        unguarded: one.unguarded.clone(),
    }
}

fn accepted(line: Line) -> Result<Accepted, String> {
    let confidence = Confidence::named(&line.confidence)
        .ok_or_else(|| format!("not a baseline: unknown confidence `{}`", line.confidence))?;
    let id = line.id.clone().unwrap_or_else(|| line.fingerprint.clone());
    let Line { fingerprint, rule, message, fields, members, mut unguarded, .. } = line;
    unguarded.sort();
    Ok(Accepted { fingerprint, id, rule, confidence, message, fields, members, unguarded })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline() -> Baseline {
        let one = |fingerprint: &str, id: &str| Accepted {
            fingerprint: fingerprint.into(),
            id: id.into(),
            rule: "race".into(),
            confidence: Confidence::Medium,
            message: "a \"quoted\" thing".into(),
            fields: vec!["a.B.n".into()],
            members: vec![fingerprint.into()],
            unguarded: vec!["write a.B.n in a.B.inc()".into()],
        };
        Baseline {
            version: "0.1.0".into(),
            rules: vec!["race".into()],
            findings: vec![one("a", "a"), one("b", "c")],
        }
    }

    #[test]
    fn a_baseline_has_one_finding_a_line() {
        let text = render(&baseline());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0..4],
            [
                "{",
                "  \"schema\": 1,",
                "  \"tool\": { \"name\": \"snarl\", \"version\": \"0.1.0\" },",
                "  \"rules\": [\"race\"],"
            ]
        );
        assert!(
            lines[5].starts_with("    {\"fingerprint\":\"a\",\"rule\":\"race\",\"confidence\":\"medium\","),
            "{text}"
        );
        assert!(lines[6].starts_with("    {\"fingerprint\":\"b\",\"id\":\"c\","), "{text}");
        assert_eq!(text.lines().count(), 9);
    }

    #[test]
    fn what_is_written_is_read_back() {
        assert_eq!(parse(&render(&baseline())), Ok(baseline()));
        let empty = Baseline { findings: vec![], ..baseline() };
        assert_eq!(parse(&render(&empty)), Ok(empty));
    }

    #[test]
    fn a_baseline_without_accesses_is_read() {
        let older = render(&baseline()).replace(",\"unguarded\":[\"write a.B.n in a.B.inc()\"]", "");
        let read = parse(&older).expect("a baseline");
        assert!(read.findings.iter().all(|one| one.unguarded.is_empty()), "{older}");
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let wrong = |text: &str| parse(text).expect_err("a reason");
        assert!(wrong("").starts_with("not a baseline: "));
        assert!(wrong("{}").contains("no schema number"));
        assert!(wrong("[1]").contains("no schema number"));
        assert!(wrong("{\"schema\": 2}").contains("newer version of Snarl (schema 2"));
        assert!(wrong("{\"schema\": 1}").contains("missing field"));
        assert!(wrong(&render(&baseline()).replace("medium", "sure")).contains("unknown confidence `sure`"));
    }
}
