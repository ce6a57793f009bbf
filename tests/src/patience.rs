//! Time limits that count the time in which somebody looked.

use std::time::{Duration, Instant};

/// What one look counts at most: a machine that stands still for a minute, as a virtual one may, has not kept a job
/// from ending for a minute.
const LOOK: Duration = Duration::from_secs(1);

/// A time limit that is looked at again and again.
#[derive(Debug)]
pub struct Patience {
    left: Duration,
    looked: Instant,
}

impl Patience {
    /// One of so long.
    pub fn new(limit: Duration) -> Patience {
        Patience { left: limit, looked: Instant::now() }
    }

    /// Whether it is over. Looked at several times a second, it is over after its limit.
    pub fn is_over(&mut self) -> bool {
        let now = Instant::now();
        let counted = now.duration_since(self.looked).min(LOOK);
        self.looked = now;
        self.left = self.left.saturating_sub(counted);
        self.left.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_looked_at_does_not_count() {
        let mut patience = Patience::new(Duration::from_millis(1500));
        patience.looked -= Duration::from_secs(60);
        assert!(!patience.is_over(), "one look counts a second at most");
        patience.looked -= Duration::from_secs(60);
        assert!(patience.is_over());
    }
}
