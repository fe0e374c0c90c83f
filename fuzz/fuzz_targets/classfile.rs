//! Any bytes: the class reader must neither panic nor break a promise about what it returns.

#![no_main]

#[path = "../../crates/classfile/tests/support/everything.rs"]
mod everything;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    everything::read_everything(bytes);
});
