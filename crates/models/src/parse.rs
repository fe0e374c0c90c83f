//! Reads the steps of one model: the text of a value in a model file. Knows the grammar of the language, not
//! files, classes or methods; the offset of an error is within the text.

use crate::step::{Member, Model, Operand, Outcome, Root, Source, Spawn, Step};

/// What is wrong, and where in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub offset: usize,
    pub message: String,
}

type Parsed<T> = Result<T, SyntaxError>;

/// Reads `step; step; …`. A `;` at the end is allowed.
pub(crate) fn model(text: &str) -> Parsed<Model> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, end: text.len() };
    let mut model = Model::default();
    while let Some(word) = parser.peek() {
        match word {
            ";" => {}
            "body" => model.keep_body = parser.take(word),
            "own" => model.own = parser.take(word),
            "nothing" => parser.at += 1,
            _ => model.steps.push(parser.step()?),
        }
        if parser.peek().is_some() && !parser.take(";") {
            return parser.fail("expected `;`");
        }
    }
    if tokens.is_empty() {
        return parser.fail("a model needs a step: `nothing` if the call does nothing");
    }
    Ok(model)
}

struct Token<'t> {
    offset: usize,
    text: &'t str,
}

/// Words (operands, keywords, parts of class names) and single punctuation marks.
fn tokens(text: &str) -> Parsed<Vec<Token<'_>>> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '<' | '>');
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some(&(offset, c)) = rest.peek() {
        rest.next();
        if c.is_whitespace() {
            continue;
        }
        let mut end = offset + c.len_utf8();
        if is_word(c) {
            while let Some(&(next, c)) = rest.peek().filter(|(_, c)| is_word(*c)) {
                end = next + c.len_utf8();
                rest.next();
            }
        } else if !matches!(c, '.' | ',' | ';' | '=' | '(' | ')' | '[' | ']') {
            return Err(SyntaxError { offset, message: format!("unexpected `{c}`") });
        }
        tokens.push(Token { offset, text: &text[offset..end] });
    }
    Ok(tokens)
}

struct Parser<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    end: usize,
}

impl<'t> Parser<'t> {
    fn step(&mut self) -> Parsed<Step> {
        let word = self.peek().unwrap_or_default();
        if operand_root(word).is_some() {
            return self.assignment();
        }
        self.at += 1;
        match word {
            "call" => {
                let (receiver, method, args) = self.invocation()?;
                Ok(Step::Call { dst: None, receiver, method, args })
            }
            "spawn" => self.spawn(),
            "join" => Ok(Step::Join { handle: self.operand()?, when: self.outcome() }),
            "covers" => Ok(Step::Covers { handle: self.operand()?, parts: self.operand()? }),
            "join-all" => Ok(Step::JoinAll { executor: self.operand()?, when: self.outcome() }),
            "acquire" => {
                let lock = self.operand()?;
                let shared = self.take("shared");
                Ok(Step::Acquire { lock, shared, try_: self.take("try") })
            }
            "release" => Ok(Step::Release { lock: self.operand()?, shared: self.take("shared") }),
            "view" => Ok(Step::View { of: self.operand()?, shared: self.take("shared") }),
            "signal" => Ok(Step::Signal { on: self.operand()? }),
            "await" => Ok(Step::Await { on: self.operand()?, when: self.outcome() }),
            "permits" => Ok(Step::Permits { of: self.operand()?, count: self.operand()? }),
            "read" => Ok(Step::Read { on: self.operand()? }),
            "write" => Ok(Step::Write { on: self.operand()? }),
            "pause" => Ok(Step::Pause),
            "give" => Ok(Step::Give { value: self.operand()? }),
            "take" => Ok(Step::Take { value: self.operand()? }),
            "per-thread" => Ok(Step::PerThread { of: self.operand()? }),
            "publish" => Ok(Step::Publish { value: self.operand()? }),
            "store-handle" => {
                Ok(Step::StoreHandle { handle: self.operand()?, base: self.operand()?, src: self.operand()? })
            }
            "store-unsafe" => Ok(Step::StoreUnsafe { base: self.operand()?, src: self.operand()? }),
            "escape" => Ok(Step::Escape { value: self.operand()? }),
            _ => {
                self.at -= 1;
                self.fail(format!("unknown step `{word}`"))
            }
        }
    }

    fn assignment(&mut self) -> Parsed<Step> {
        let start = self.at;
        let dst = self.operand()?;
        self.expect("=")?;
        if self.take("call") {
            self.assignable(&dst, start)?;
            let (receiver, method, args) = self.invocation()?;
            return Ok(Step::Call { dst: Some(dst), receiver, method, args });
        }
        self.assignable(&dst, start)?;
        Ok(Step::Assign { dst, src: self.source()? })
    }

    /// Models cannot rebind what the caller passed.
    fn assignable(&mut self, dst: &Operand, start: usize) -> Parsed<()> {
        if dst.path.is_empty() && matches!(dst.root, Root::This | Root::Param(_)) {
            self.at = start;
            return self
                .fail("cannot assign to the receiver or a parameter itself, only to its fields or elements");
        }
        Ok(())
    }

    fn source(&mut self) -> Parsed<Source> {
        let word = self.peek().unwrap_or_default();
        if operand_root(word).is_some() {
            return Ok(Source::Value(self.operand()?));
        }
        self.at += 1;
        match word {
            "new" => Ok(Source::New { class: self.class_name()?, serial: self.take("serial") }),
            "new-result" => Ok(Source::NewResult),
            "the" => Ok(Source::The { class: self.class_name()?, serial: self.take("serial") }),
            "copy" => Ok(Source::Copy(self.operand()?)),
            "class-named" => Ok(Source::ClassNamed(self.operand()?)),
            "instance-of" => Ok(Source::InstanceOf(self.operand()?)),
            "class-of" => Ok(Source::ClassOf(self.operand()?)),
            "services" => Ok(Source::Services(self.operand()?)),
            "field-handle" => Ok(Source::FieldHandle { class: self.operand()?, name: self.operand()? }),
            "load-handle" => Ok(Source::LoadHandle { handle: self.operand()?, base: self.operand()? }),
            "load-unsafe" => Ok(Source::LoadUnsafe(self.operand()?)),
            "current-thread" => Ok(Source::CurrentThread),
            "opaque" => Ok(Source::Opaque),
            _ => {
                self.at -= 1;
                self.fail(format!(
                    "bad operand `{word}`: expected `this`, `ret`, `p0`, `t0` or a source such as `new`"
                ))
            }
        }
    }

    fn spawn(&mut self) -> Parsed<Step> {
        let (receiver, method, args) = self.invocation()?;
        let mut spawn = Spawn {
            receiver,
            method,
            args,
            result: None,
            executor: None,
            handle: None,
            after: Vec::new(),
            serial: false,
            once: false,
            repeat: false,
            parallel: false,
            waits: false,
            when_parallel: false,
        };
        while let Some(option) = self.peek().filter(|&word| word != ";") {
            self.at += 1;
            match option {
                "into" => spawn.result = Some(self.operand()?),
                "on" => spawn.executor = Some(self.operand()?),
                "handle" => spawn.handle = Some(self.operand()?),
                "after" => spawn.after.push(self.operand()?),
                "serial" => spawn.serial = true,
                "once" => spawn.once = true,
                "repeat" => spawn.repeat = true,
                "parallel" => spawn.parallel = true,
                "waits" => spawn.waits = true,
                "when-parallel" => spawn.when_parallel = true,
                _ => {
                    self.at -= 1;
                    return self.fail(format!("unknown option `{option}` of `spawn`"));
                }
            }
        }
        Ok(Step::Spawn(spawn))
    }

    /// `if-true`, or nothing.
    fn outcome(&mut self) -> Outcome {
        let named = [
            ("if-true", Outcome::True),
            ("if-false", Outcome::False),
            ("unless-false", Outcome::NotFalse),
            ("if-returned", Outcome::Returned),
        ];
        let found = named.into_iter().find(|&(word, _)| self.take(word));
        found.map_or(Outcome::Any, |(_, outcome)| outcome)
    }

    /// `p0.$task.run(p1, p2)`
    fn invocation(&mut self) -> Parsed<(Operand, String, Vec<Operand>)> {
        let receiver = self.operand()?;
        self.expect(".")?;
        let method = self.word("a method name")?.to_owned();
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.take(")") {
            if !args.is_empty() {
                self.expect(",")?;
            }
            args.push(self.operand()?);
        }
        Ok((receiver, method, args))
    }

    /// `this.$map[].$key`; stops before `.name(`.
    fn operand(&mut self) -> Parsed<Operand> {
        let word = self.peek().unwrap_or_default();
        let Some(root) = operand_root(word) else {
            return self.fail(format!("bad operand `{word}`: expected `this`, `ret`, `p0` or `t0`"));
        };
        self.at += 1;
        let mut path = Vec::new();
        loop {
            if self.take("[") {
                self.expect("]")?;
                path.push(Member::Elements);
            } else if self.peek() == Some(".") && self.peek_at(1).is_some_and(|word| word.starts_with('$')) {
                self.at += 1;
                let field = self.word("a field")?;
                if field.len() == 1 {
                    self.at -= 1;
                    return self.fail("a model field needs a name after `$`");
                }
                path.push(Member::Model(field[1..].to_owned()));
            } else if self.peek() == Some(".") && self.peek_at(2) != Some("(") {
                self.at += 1;
                return self.fail("bad operand: only model fields (`$name`) and elements (`[]`) can follow");
            } else {
                return Ok(Operand { root, path });
            }
        }
    }

    /// `java.util.Map$Entry` or `java.lang.Object[]`, as an internal name.
    fn class_name(&mut self) -> Parsed<String> {
        let mut name = self.word("a class name")?.to_owned();
        while self.take(".") {
            name.push('/');
            name.push_str(self.word("a class name")?);
        }
        let mut dimensions = 0;
        while self.take("[") {
            self.expect("]")?;
            dimensions += 1;
        }
        Ok(if dimensions == 0 { name } else { format!("{}L{name};", "[".repeat(dimensions)) })
    }

    fn word(&mut self, what: &str) -> Parsed<&'t str> {
        match self.peek() {
            Some(word) if !word.starts_with(['.', ',', ';', '=', '(', ')', '[', ']']) => {
                self.at += 1;
                Ok(word)
            }
            _ => self.fail(format!("expected {what}")),
        }
    }

    fn expect(&mut self, token: &str) -> Parsed<()> {
        if self.take(token) { Ok(()) } else { self.fail(format!("expected `{token}`")) }
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn peek(&self) -> Option<&'t str> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<&'t str> {
        self.tokens.get(self.at + ahead).map(|token| token.text)
    }

    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        let offset = self.tokens.get(self.at).map_or(self.end, |token| token.offset);
        Err(SyntaxError { offset, message: message.into() })
    }
}

fn operand_root(word: &str) -> Option<Root> {
    match word {
        "this" => Some(Root::This),
        "ret" => Some(Root::Ret),
        "_" => Some(Root::Temp(u8::MAX)),
        _ => {
            let numbered = |letter| word.strip_prefix(letter)?.parse::<u8>().ok();
            numbered('p').map(Root::Param).or_else(|| numbered('t').map(Root::Temp))
        }
    }
}
