//! Many gates of simulated runs: how often one is wrong. A run is its true time, times a drift that the two runs of a
//! pair share, times noise, and now and then a spike. `PELLUCID_TEST_LONG=1` has them in the full number.

use super::sequence::{TestResult, is_decided, looks, test};

struct Machine {
    random: fastrand::Rng,
    noise: f64,
}

impl Machine {
    /// A normal deviate, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.random.f64(), self.random.f64());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// The logarithm of a run's time.
    fn run(&mut self) -> f64 {
        let spike = if self.random.f64() < 0.05 { 0.3 * -(1.0 - self.random.f64()).ln() } else { 0.0 };
        self.noise * self.normal() + spike.ln_1p()
    }

    /// A gate with three primary metrics, of which each is slower by `effect` where it is the first.
    fn gate(&mut self, effect: f64) -> Vec<TestResult> {
        let mut metrics = [Vec::new(), Vec::new(), Vec::new()];
        let mut findings = Vec::new();
        for look in looks(10, 40) {
            while metrics[0].len() < look {
                for (at, metric) in metrics.iter_mut().enumerate() {
                    let slower = if at == 0 { effect.ln_1p() } else { 0.0 };
                    metric.push(self.run() + slower - self.run());
                }
            }
            let tested = test(&metrics.each_ref().map(Vec::as_slice), 0.02);
            findings = tested.iter().map(|t| t.finding).collect();
            if is_decided(&tested) {
                break;
            }
        }
        findings
    }
}

fn slower(noise: f64, effect: f64, gates: usize, of: fn(&[TestResult]) -> bool) -> usize {
    let mut machine = Machine { random: fastrand::Rng::with_seed(42), noise };
    (0..gates).filter(|_| of(&machine.gate(effect))).count()
}

fn is_long() -> bool {
    std::env::var_os("PELLUCID_TEST_LONG").is_some()
}

#[test]
fn equal_programs_pass() {
    // 1,000 in the long form, at each noise: at most 10 regressions.
    let (gates, most) = if is_long() { (1000, 10) } else { (150, 3) };
    for noise in [0.01, 0.03, 0.06] {
        let wrong = slower(noise, 0.0, gates, |found| found.contains(&TestResult::Slower));
        assert!(wrong <= most, "{wrong} of {gates} at a noise of {noise}");
    }
}

#[test]
fn five_percent_are_found() {
    // In 190 of 200, up to a noise of 3 %.
    let gates = if is_long() { 1000 } else { 200 };
    for noise in [0.01, 0.02, 0.03] {
        let found = slower(noise, 0.05, gates, |found| found[0] == TestResult::Slower);
        assert!(found * 100 >= gates * 95, "{found} of {gates} at a noise of {noise}");
    }
}

#[test]
fn where_it_is_too_loud_nothing_is_ruled_out() {
    // 5 % are there and cannot be seen: that must not be called no effect.
    let gates = if is_long() { 500 } else { 60 };
    let ruled_out = slower(0.08, 0.05, gates, |found| found[0] == TestResult::NoEffect);
    assert!(ruled_out * 100 <= gates, "{ruled_out} of {gates}");
}
