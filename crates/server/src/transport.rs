//! Messages as they go over a stream: headers, a length, and JSON. Written by hand because what is malformed has to be
//! answered, not to end the conversation; knows nothing of what messages say.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// Longer messages are none: nobody sends a source of this size.
const LONGEST: usize = 256 << 20;
/// Nor are longer headers.
const LONGEST_LINE: usize = 8192;

pub enum Incoming {
    Message(Value),
    /// Something that is no message, and why.
    Malformed(String),
    /// Nobody will send anything any more.
    End,
}

/// Reads the next message. After a message that is no JSON the stream goes on; after headers without a length there is
/// no telling where the next one begins, so lines are passed over until one is found.
pub fn read(from: &mut impl BufRead) -> Incoming {
    let mut length: Option<Result<usize, String>> = None;
    loop {
        let mut line = Vec::new();
        match from.take(LONGEST_LINE as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Incoming::End,
            Ok(read) if !line.ends_with(b"\n") && read < LONGEST_LINE => return Incoming::End,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            match length.take() {
                Some(Ok(length)) => return body(from, length),
                Some(Err(why)) => return Incoming::Malformed(why),
                // Empty lines between messages do no harm.
                None => continue,
            }
        }
        let Some((name, value)) = text.split_once(':') else {
            return Incoming::Malformed(format!("no header: {}", shortened(text)));
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = Some(match value.trim().parse::<usize>() {
                Ok(length) if length <= LONGEST => Ok(length),
                _ => Err(format!("no length of a message: {}", shortened(value.trim()))),
            });
        }
    }
}

fn body(from: &mut impl BufRead, length: usize) -> Incoming {
    let mut body = Vec::new();
    // What is not there takes no memory.
    match from.take(length as u64).read_to_end(&mut body) {
        Ok(read) if read == length => {}
        _ => return Incoming::End,
    }
    match serde_json::from_slice(&body) {
        Ok(message @ Value::Object(_)) => Incoming::Message(message),
        Ok(_) => Incoming::Malformed("a message is an object".to_owned()),
        Err(error) => Incoming::Malformed(format!("no JSON: {error}")),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

pub fn write(to: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    write!(to, "Content-Length: {}\r\n\r\n", body.len())?;
    to.write_all(&body)?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Messages as they are, what is malformed as `null`.
    fn all(bytes: &[u8]) -> Vec<Value> {
        let mut from = bytes;
        let mut found = Vec::new();
        loop {
            match read(&mut from) {
                Incoming::Message(message) => found.push(message),
                Incoming::Malformed(_) => found.push(Value::Null),
                Incoming::End => return found,
            }
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let message = json!({"id": 1, "text": "ä𝄞"});
        let mut bytes = Vec::new();
        write(&mut bytes, &message).expect("written");
        write(&mut bytes, &message).expect("written");
        assert_eq!(all(&bytes), [message.clone(), message]);
    }

    #[test]
    fn what_is_malformed_does_not_end_the_conversation() {
        let good = "Content-Length: 2\r\n\r\n{}";
        for bad in [
            "Content-Length: 5\r\n\r\nnojso",
            "Content-Length: 2\r\n\r\n[]",
            "Content-Length: 10\r\n\r\n{\"a\": \"\u{fffd}",
            "nonsense\r\n",
            "Content-Length: -1\r\n\r\n",
            "Content-Length: 99999999999999999999\r\n\r\n",
        ] {
            let bytes = format!("{good}{bad}{good}");
            assert_eq!(all(bytes.as_bytes()), [json!({}), Value::Null, json!({})], "{bad}");
        }
    }

    #[test]
    fn half_a_message_is_the_end() {
        for bytes in ["Content-Length: 20\r\n\r\n{}", "Content-Le", "", "Content-Length: 2\r\n"] {
            assert!(all(bytes.as_bytes()).is_empty(), "{bytes}");
        }
    }
}
