//! Random models for the library class of a program.

use super::{LIB_METHODS, Writer};
use std::fmt::Write;

impl Writer {
    /// Random models for the library class.
    pub(super) fn models(&mut self) -> String {
        let mut text = format!("[\"{}$Lib\"]\n", self.name);
        for (name, params) in LIB_METHODS {
            if self.dice.chance(80) {
                let types = vec!["Object"; params].join(",");
                let steps = self.steps(params, true);
                let _ = writeln!(text, "\"{name}({types})\" = \"{steps}\"");
            }
        }
        let steps = self.steps(2, false);
        let _ = writeln!(text, "\"stat(Object,Object)\" = \"{steps}\"");
        if self.dice.chance(30) {
            let steps = self.steps(1, true);
            let _ = writeln!(text, "[\"{}$LibSub\"]\n\"make(Object)\" = \"{steps}\"", self.name);
        }
        text
    }

    pub(super) fn steps(&mut self, params: usize, has_this: bool) -> String {
        let mut steps = Vec::new();
        if self.dice.chance(15) {
            steps.push("body".to_string());
        }
        for _ in 0..1 + self.dice.below(5) {
            let value = self.operand(params, has_this);
            let to = self.target(params, has_this);
            let arg = self.operand(params, has_this);
            let (lib, others) = self.dice.pick(&LIB_METHODS);
            let args = vec![arg.as_str(); others].join(", ");
            steps.push(match self.dice.below(24) {
                0..=3 => format!("{to} = {value}"),
                4 => format!("{to} = new {}$Lib", self.name),
                5 => format!("{to} = new-result"),
                6 => format!("{to} = the {}$LibSub", self.name),
                7 => format!("{to} = copy {value}"),
                8 => format!("{to} = class-of {value}"),
                9 => format!("{to} = instance-of {value}"),
                10 => format!("{to} = load-unsafe {value}"),
                11 => format!("{to} = opaque"),
                12 => format!("store-unsafe {value} {arg}"),
                13 => format!("escape p{}", self.dice.below(params)),
                14 => format!("{to} = new java.lang.Object[]; {to}[] = {arg}"),
                15..=16 => format!("{to} = call {value}.{lib}({args})"),
                17 => format!("call {value}.{lib}({args})"),
                18 => format!("{to} = call {value}.m({arg})"),
                19 => format!("call {value}.run()"),
                20 => format!("spawn {value}.run() handle ret"),
                21 => format!("spawn {value}.m({arg}) into {to}"),
                22 => format!("spawn {value}.{lib}({args}) into {to} when-parallel"),
                _ => format!("{to} = call {value}.apply({arg})"),
            });
        }
        steps.join("; ")
    }

    pub(super) fn operand(&mut self, params: usize, has_this: bool) -> String {
        let root = match self.dice.below(6) {
            0..=2 => format!("p{}", self.dice.below(params)),
            3 if has_this => "this".to_string(),
            4 => "ret".to_string(),
            _ => format!("t{}", self.dice.below(2)),
        };
        let path = self.dice.pick(&["", "", "", ".$x", ".$y", "[]", ".$x.$y"]);
        format!("{root}{path}")
    }

    pub(super) fn target(&mut self, params: usize, has_this: bool) -> String {
        let root = match self.dice.below(6) {
            0 => format!("p{}{}", self.dice.below(params), self.dice.pick(&[".$x", "[]", ".$x.$x"])),
            1 if has_this => format!("this{}", self.dice.pick(&[".$x", ".$y"])),
            2 => format!("t{}", self.dice.below(2)),
            _ => "ret".to_string(),
        };
        let path = self.dice.pick(&["", "", ".$x", ".$y"]);
        format!("{root}{path}")
    }
}
