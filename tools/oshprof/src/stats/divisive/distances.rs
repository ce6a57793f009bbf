//! How far the parts of a series lie from each other: all of them from one table of sums of distances.

use super::SHORTEST;

/// Least length of a window: in shorter ones shuffled values of two kinds are often in order.
const WINDOW: usize = 4 * SHORTEST;

/// Where a series falls into parts, and the statistic of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The first value of the second part.
    pub at: usize,
    /// That of the third part, which belongs with the first.
    pub until: Option<usize>,
    /// How much further the parts lie from each other than values of one.
    pub statistic: f64,
}

impl Found {
    /// First values of parts.
    pub fn cuts(&self) -> impl Iterator<Item = usize> {
        [self.at].into_iter().chain(self.until)
    }
}

/// What has the larger statistic; the first of equal ones.
fn larger(best: Option<Found>, other: Option<Found>) -> Option<Found> {
    match (best, other) {
        (Some(best), Some(other)) => Some(if other.statistic > best.statistic { other } else { best }),
        (best, other) => best.or(other),
    }
}

/// Sums of the distances of a series.
#[derive(Debug, Default)]
pub struct Distances {
    length: usize,
    /// Of the first `i` values from the first `j`, in row `i`: a row more than there are values.
    sums: Vec<f64>,
}

impl Distances {
    /// Of these values.
    pub fn of(series: &[f64]) -> Distances {
        let mut distances = Distances::default();
        distances.fill(series);
        distances
    }

    /// Takes other values in place of those that it has.
    pub fn fill(&mut self, series: &[f64]) {
        let width = series.len() + 1;
        self.length = series.len();
        self.sums.resize(width * width, 0.0);
        for (at, value) in series.iter().enumerate() {
            let (above, row) = self.sums[at * width..(at + 2) * width].split_at_mut(width);
            let mut sum = 0.0;
            for (to, other) in series.iter().enumerate() {
                sum += (value - other).abs();
                row[to + 1] = above[to + 1] + sum;
            }
        }
    }

    fn sum(&self, rows: usize, columns: usize) -> f64 {
        self.sums[rows * (self.length + 1) + columns]
    }

    /// Between all pairs of values from `from` on and before `to`.
    fn within(&self, from: usize, to: usize) -> f64 {
        (self.sum(to, to) - 2.0 * self.sum(from, to) + self.sum(from, from)) / 2.0
    }

    /// The split of all into two parts with the largest statistic.
    pub fn best_split(&self) -> Option<Found> {
        self.split_of(0, self.length)
    }

    /// The same of what is in a window.
    fn split_of(&self, from: usize, to: usize) -> Option<Found> {
        let all = self.within(from, to);
        (from + SHORTEST..=to.checked_sub(SHORTEST)?).fold(None, |best, at| {
            let parts = [(at - from, self.within(from, at)), (to - at, self.within(at, to))];
            larger(best, Some(Found { at, until: None, statistic: energy(parts, all) }))
        })
    }

    /// The stretch that is furthest from all before and after it, or the best split of a window.
    pub fn best_inside(&self) -> Option<Found> {
        larger(self.best_stretch(), self.best_of_windows())
    }

    fn best_stretch(&self) -> Option<Found> {
        let (length, all) = (self.length, self.within(0, self.length));
        let last = length.checked_sub(SHORTEST)?;
        let mut best = None;
        for from in SHORTEST..last {
            for to in from + SHORTEST..=last {
                let inside = self.within(from, to);
                let across = self.sum(to, length) - self.sum(from, length) - 2.0 * inside;
                let parts = [(to - from, inside), (length - (to - from), all - inside - across)];
                best = larger(best, Some(Found { at: from, until: Some(to), statistic: energy(parts, all) }));
            }
        }
        best
    }

    /// Windows of several lengths, each a fifth of its length behind the one before.
    fn best_of_windows(&self) -> Option<Found> {
        let lengths = std::iter::successors(Some(WINDOW), |length| Some(length * 3 / 2));
        lengths.take_while(|length| *length < self.length).fold(None, |best, length| {
            let last = self.length - length;
            let begins = (0..last).step_by(length / 5).chain([last]);
            begins.fold(best, |best, from| larger(best, self.split_of(from, from + length)))
        })
    }
}

/// The statistic of two parts, of which there is the number of values and the sum of the distances within, of all of
/// whose values the sum of the distances is `all`.
fn energy(parts: [(usize, f64); 2], all: f64) -> f64 {
    let [(l, left), (r, right)] = parts.map(|(length, within)| (length as f64, within));
    let across = all - left - right;
    let energy = 2.0 * across / (l * r) - 2.0 * left / (l * (l - 1.0)) - 2.0 * right / (r * (r - 1.0));
    energy * l * r / (l + r)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The energy statistic of the values for which `is_of` holds against the others, by its definition.
    fn defined(series: &[f64], is_of: impl Fn(usize) -> bool) -> f64 {
        let part = |of: bool| -> Vec<f64> {
            series.iter().enumerate().filter(|(at, _)| is_of(*at) == of).map(|(_, value)| *value).collect()
        };
        let (a, b) = (part(true), part(false));
        let (m, n) = (a.len() as f64, b.len() as f64);
        let mean = |a: &[f64], b: &[f64], pairs: f64| {
            a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum::<f64>() / pairs
        };
        let energy = 2.0 * mean(&a, &b, m * n) - mean(&a, &a, m * (m - 1.0)) - mean(&b, &b, n * (n - 1.0));
        energy * m * n / (m + n)
    }

    fn random(length: usize) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(3);
        (0..length).map(|_| random.f64()).collect()
    }

    #[test]
    fn the_statistic_is_what_its_definition_says() {
        let series = random(23);
        let is_same = |found: Found, most: f64| assert!((found.statistic - most).abs() < 1e-9, "{found:?} {most}");
        let splits = (SHORTEST..=23 - SHORTEST).map(|split| defined(&series, |at| at < split));
        is_same(Distances::of(&series).best_split().unwrap(), splits.fold(f64::MIN, f64::max));
        let stretches = (SHORTEST..23).flat_map(|from| (from + SHORTEST..=23 - SHORTEST).map(move |to| (from, to)));
        let stretches = stretches.map(|(from, to)| defined(&series, |at| (from..to).contains(&at)));
        is_same(Distances::of(&series).best_stretch().unwrap(), stretches.fold(f64::MIN, f64::max));
        let found = Distances::of(&series).best_of_windows().unwrap();
        let windows: Vec<f64> = (0..=3)
            .flat_map(|from| (from + SHORTEST..=from + 20 - SHORTEST).map(move |split| (from, split)))
            .filter(|(from, _)| [0, 3].contains(from))
            .map(|(from, split)| defined(&series[from..from + 20], |at| at < split - from))
            .collect();
        is_same(found, windows.into_iter().fold(f64::MIN, f64::max));
    }

    #[test]
    fn what_is_too_short_has_no_parts() {
        for length in [0, 4, 2 * SHORTEST - 1] {
            assert_eq!(Distances::of(&random(length)).best_split(), None);
            assert_eq!(Distances::of(&random(length)).best_inside(), None);
        }
        assert_eq!(Distances::of(&random(2 * SHORTEST)).best_split().unwrap().at, SHORTEST);
        assert_eq!(Distances::of(&random(3 * SHORTEST - 1)).best_inside(), None);
        let stretch = Distances::of(&random(3 * SHORTEST)).best_inside().unwrap();
        assert_eq!((stretch.at, stretch.until), (SHORTEST, Some(2 * SHORTEST)));
    }
}
