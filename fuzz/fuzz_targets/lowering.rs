//! Any class: loading, lowering and the questions about bodies must neither panic nor give an invalid body.

#![no_main]

#[path = "../../crates/ir/tests/support/everything.rs"]
mod everything;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    everything::lower_everything(bytes);
});
