//! The normal distribution.

/// From here on the continued fraction has all digits after [`TERMS`] of its terms; below, the series has.
const IN_THE_TAIL: f64 = 4.0;
/// Terms of both.
const TERMS: u32 = 80;

/// The probability that a standard normal value is above `z`, with a small relative error in the tail, too.
pub fn above(z: f64) -> f64 {
    if z.is_nan() {
        return f64::NAN;
    }
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z.abs() < IN_THE_TAIL {
        // Abramowitz and Stegun, 26.2.11.
        let (mut term, mut sum) = (z, z);
        for at in 1..TERMS {
            term *= z * z / f64::from(2 * at + 1);
            sum += term;
        }
        return 0.5 - density * sum;
    }
    if z < 0.0 {
        return 1.0 - above(-z);
    }
    // Laplace; Abramowitz and Stegun, 26.2.14.
    let fraction = (1..TERMS).rev().fold(z, |below, at| z + f64::from(at) / below);
    density / fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        // Python: 0.5 * math.erfc(z / math.sqrt(2)).
        for (z, p) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457),
            (3.29, 5.009_369_137_857_22e-4),
            (3.999, 3.180_534_005_420_21e-5),
            (4.0, 3.167_124_183_311_99e-5),
            (6.0, 9.865_876_450_376_98e-10),
            (10.0, 7.619_853_024_160_53e-24),
        ] {
            assert!((above(z) / p - 1.0).abs() < 1e-10, "{z}: {} {p}", above(z));
            assert!((above(-z) - (1.0 - p)).abs() < 1e-12, "{z}");
        }
        assert_eq!((above(40.0), above(-40.0), above(f64::INFINITY)), (0.0, 1.0, 0.0));
        assert!(above(f64::NAN).is_nan());
    }
}
