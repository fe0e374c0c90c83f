//! What the user may have meant by an id that nothing has. Knows ids and how close they are, nothing else.

/// As many as one can choose from.
const MOST: usize = 3;

/// Those that differ little, or begin alike, the closest first.
pub fn near<'a>(id: &str, known: &[&'a str]) -> Vec<&'a str> {
    let mut close: Vec<(usize, &'a str)> =
        known.iter().filter_map(|&known| Some((distance(id, known)?, known))).collect();
    close.sort();
    close.dedup();
    close.into_iter().map(|(_, known)| known).take(MOST).collect()
}

/// How many letters are wrong, or missing at the end; `None` if that is another word.
fn distance(id: &str, known: &str) -> Option<usize> {
    let slips = strsim::osa_distance(&id.to_lowercase(), known);
    let alike = id.chars().zip(known.chars()).take_while(|(a, b)| a == b).count();
    let is_near = slips <= id.chars().count() / 3 || alike >= 4;
    is_near.then_some(slips)
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn slips_and_common_beginnings_are_near() {
        let ids = ["3cb8837cfb27ba79", "3cb8800000000000", "0de724d5ccc38117", "3cb8837cfb27ba78"];
        assert_eq!(
            near("3cb8837cfb27ba70", &ids),
            ["3cb8837cfb27ba78", "3cb8837cfb27ba79", "3cb8800000000000"]
        );
        assert_eq!(near("3CB8837CFB27BA77", &ids)[0], "3cb8837cfb27ba78");
        assert_eq!(near("ffff", &ids), [] as [&str; 0]);
    }
}
