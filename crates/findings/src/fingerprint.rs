//! Stable identity of a finding: rule, field and both methods with their access kinds, no line numbers.

/// 16 hex digits from the parts; the order of the parts matters (sort symmetric sides first).
pub fn fingerprint(parts: &[&str]) -> String {
    // FNV-1a: a fixed, documented function, so that ids survive tool upgrades.
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::fingerprint;

    /// The value is part of users' baselines: if this fails, every recorded finding becomes "new".
    #[test]
    fn the_function_is_frozen() {
        assert_eq!(fingerprint(&[]), "cbf29ce484222325");
        let id = fingerprint(&["race", "bank.Account.balance", "bank.Account.deposit(int)", "write"]);
        assert_eq!(id, "2ba68a385dfb6997");
    }

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(fingerprint(&["ab", "c"]), fingerprint(&["a", "bc"]));
        assert_ne!(fingerprint(&["a"]), fingerprint(&["a", ""]));
    }
}
