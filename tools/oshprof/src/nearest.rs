//! What somebody may have meant who typed a word that is unknown.

/// Changes of a letter by which a word may be off.
const SLIPS: usize = 2;

/// What follows the word, and is followed by all that there are: `; did you mean `report`? There are`.
pub fn hint<'a>(word: &str, words: impl Iterator<Item = &'a str>) -> String {
    let near = words.map(|known| (distance(word, known), known)).min();
    // Of a word as short as that any other is near.
    let is_near = |(slips, known): &(usize, &str)| *slips <= SLIPS && *slips < known.chars().count() / 2;
    near.filter(is_near).map_or("; there are".to_owned(), |(_, known)| format!("; did you mean `{known}`? There are"))
}

/// Letters to add, take away, change or swap with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for at in 1..=from.len() {
        let mut row = vec![at];
        for other in 1..=to.len() {
            let is_other = usize::from(from[at - 1] != to[other - 1]);
            let mut least = (rows[at - 1][other] + 1).min(row[other - 1] + 1).min(rows[at - 1][other - 1] + is_other);
            if at > 1 && other > 1 && (from[at - 1], from[at - 2]) == (to[other - 2], to[other - 1]) {
                least = least.min(rows[at - 2][other - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_near_are_named() {
        let words = ["report", "advise", "top", "history"];
        let said = |word| hint(word, words.into_iter());
        for word in ["reprot", "repotr", "reports", "rport", "Report"] {
            assert_eq!(said(word), "; did you mean `report`? There are", "{word}");
        }
        for word in ["", "x", "frobnicate", "tip2", "rate"] {
            assert_eq!(said(word), "; there are", "{word}");
        }
    }
}
