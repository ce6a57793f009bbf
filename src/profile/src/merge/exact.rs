//! A sum of numbers with fractions that does not depend on their order.

/// A sum of numbers from 0 on, in binary fixed point: 192 bits before the point, 64 behind it. What is finer is cut
/// off, number by number; what is larger stays at the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Exact([u64; 4]);

const LARGEST: Exact = Exact([u64::MAX; 4]);
const MANTISSA: u32 = 52;
/// Exponent of the last bit of a number whose stored exponent is 0.
const SMALLEST: i64 = -1075;

impl Exact {
    pub(super) fn add_f64(&mut self, value: f64) {
        if value.is_nan() || value <= 0.0 {
            return;
        }
        if value.is_infinite() {
            return *self = LARGEST;
        }
        let bits = value.to_bits();
        let exponent = (bits >> MANTISSA) as i64;
        let mantissa = bits & ((1 << MANTISSA) - 1) | if exponent > 0 { 1 << MANTISSA } else { 0 };
        let shift = SMALLEST + exponent.max(1) + 64;
        if shift < 0 {
            let kept = if shift > -64 { mantissa >> -shift } else { 0 };
            return self.add(Exact([kept, 0, 0, 0]));
        }
        let (word, shift) = ((shift / 64) as usize, shift % 64);
        let wide = u128::from(mantissa) << shift;
        let (low, high) = (wide as u64, (wide >> 64) as u64);
        let mut term = Exact::default();
        match (term.0.get_mut(word), high) {
            (Some(place), _) => *place = low,
            (None, _) => return *self = LARGEST,
        }
        match term.0.get_mut(word + 1) {
            Some(place) => *place = high,
            None if high > 0 => return *self = LARGEST,
            None => {}
        }
        self.add(term);
    }

    pub(super) fn add(&mut self, other: Exact) {
        let mut carry = false;
        for (to, from) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = to.overflowing_add(from);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*to, carry) = (sum, first | second);
        }
        if carry || other == LARGEST {
            *self = LARGEST;
        }
    }

    pub(super) fn value(self) -> f64 {
        // From the top: each part is at most half of the last bit of what is before it, or belongs to it.
        self.0.iter().rev().fold(0.0, |sum, &word| sum * 2_f64.powi(64) + word as f64) * 2_f64.powi(-64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[f64]) -> f64 {
        let mut sum = Exact::default();
        values.iter().for_each(|&value| sum.add_f64(value));
        sum.value()
    }

    #[test]
    fn one_number_stays_what_it_is() {
        for value in [0.0, 1.0, 0.1, 40_000.123, 1e-3, 123_456_789.987, 1e30, 2_f64.powi(-60), 5.2e57] {
            assert_eq!(sum(&[value]), value);
        }
        assert_eq!(sum(&[1e-300]), 0.0);
        assert!(sum(&[1e300]) > 1e57 && sum(&[f64::INFINITY, 1.0]) > 1e57);
    }

    #[test]
    fn the_order_does_not_matter() {
        let mut values: Vec<f64> = (0..2000).map(|k| 10_f64.powi(k % 37 - 10) * (1.0 + f64::from(k) / 7.0)).collect();
        let forward = sum(&values);
        values.reverse();
        assert_eq!(sum(&values), forward);
        let mut halves = [Exact::default(); 2];
        values.iter().enumerate().for_each(|(at, &value)| halves[at % 2].add_f64(value));
        let [mut first, second] = halves;
        first.add(second);
        assert_eq!(first.value(), forward);
        let plain: f64 = values.iter().sum();
        assert!((forward / plain - 1.0).abs() < 1e-12);
    }
}
