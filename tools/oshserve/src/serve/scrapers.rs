//! Who scrapes regularly, and who has seen a job's last numbers.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// Whoever has scraped within this time is expected to scrape again.
const REGULAR: Duration = Duration::from_secs(150);
/// Scrapers that are told apart: what tells them apart comes from them.
const MOST: usize = 64;
/// Times between scrapes that are remembered.
const GAPS: usize = 8;
/// Bytes of a `User-Agent` that are looked at.
const AGENT_BYTES: usize = 64;

/// A scraper. Two of one version behind one address are the same one here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scraper {
    address: IpAddr,
    agent: String,
}

/// When a scraper was shown something first.
pub type FirstSeen = BTreeMap<Scraper, Instant>;

/// Those that scrape regularly.
#[derive(Debug, Default)]
pub struct Scrapers(BTreeMap<Scraper, Visits>);

#[derive(Debug)]
struct Visits {
    last: Instant,
    gaps: VecDeque<Duration>,
}

impl Scraper {
    /// By its address and what it calls itself.
    pub fn new(address: IpAddr, agent: &str) -> Scraper {
        Scraper { address, agent: agent.chars().take(AGENT_BYTES).collect() }
    }
}

impl Scrapers {
    /// One scrapes now.
    pub fn visit(&mut self, who: &Scraper, now: Instant) {
        self.forget(now);
        if let Some(visits) = self.0.get_mut(who) {
            visits.gaps.truncate(GAPS - 1);
            visits.gaps.push_front(now.saturating_duration_since(visits.last));
            visits.last = now;
            return;
        }
        if self.0.len() >= MOST
            && let Some(oldest) = self.0.iter().min_by_key(|(_, visits)| visits.last).map(|(who, _)| who.clone())
        {
            self.0.remove(&oldest);
        }
        self.0.insert(who.clone(), Visits { last: now, gaps: VecDeque::new() });
    }

    /// Those that have not come for so long are not waited for any more.
    pub fn forget(&mut self, now: Instant) {
        self.0.retain(|_, visits| now.saturating_duration_since(visits.last) < REGULAR);
    }

    /// Whether somebody has seen something, and all who scrape regularly have. Behind a scraper there may be two that
    /// cannot be told apart: the second comes within the longest time between scrapes, and a half of it for delays.
    pub fn all_have_seen(&self, first: &FirstSeen, now: Instant) -> bool {
        let has = |(who, visits): (&Scraper, &Visits)| {
            let (seen, longest) = (first.get(who)?, visits.gaps.iter().max()?);
            Some(now.saturating_duration_since(*seen) > *longest * 3 / 2)
        };
        !first.is_empty() && self.0.iter().all(|one| has(one) == Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who scrapes at which second.
    type Visit<'a> = (u64, &'a str);

    /// Lets them scrape, and gives for each whether a job that ended at this second was shown.
    fn shown(end: u64, visits: &[Visit<'_>]) -> Vec<bool> {
        let (begin, mut scrapers, mut first) = (Instant::now(), Scrapers::default(), FirstSeen::new());
        let mut has_gone = false;
        let one = |&(second, agent): &Visit<'_>| {
            let (now, who) = (begin + Duration::from_secs(second), Scraper::new([127, 0, 0, 1].into(), agent));
            scrapers.visit(&who, now);
            if second >= end {
                has_gone |= scrapers.all_have_seen(&first, now);
                first.entry(who).or_insert(now);
            }
            !has_gone
        };
        visits.iter().map(one).collect()
    }

    #[test]
    fn one_scraper_sees_the_end_and_is_not_shown_it_for_ever() {
        let each_15 = [(0, "p"), (15, "p"), (30, "p"), (45, "p"), (60, "p"), (75, "p")];
        assert_eq!(shown(20, &each_15), [true, true, true, true, false, false]);
        // One that comes for the first time after the end.
        assert_eq!(shown(0, &each_15)[..4], [true, true, false, false]);
    }

    #[test]
    fn two_with_names_of_their_own_both_see_it() {
        // `b` stays away when the job has ended, until `a` has had its time.
        let turn = |turn: u64| [(15 * turn, "a"), (15 * turn + 1, "b")];
        let mut visits: Vec<Visit<'_>> = (0..12).flat_map(turn).collect();
        visits.retain(|visit| ![(31, "b"), (46, "b")].contains(visit));
        let seen = shown(17, &visits);
        let at = visits.iter().position(|visit| *visit == (61, "b")).unwrap();
        assert_eq!((&visits[at - 1], &seen[..=at]), (&(60, "a"), &vec![true; at + 1][..]));
        assert!(!seen[visits.len() - 1]);
    }

    #[test]
    fn two_that_cannot_be_told_apart_both_see_it() {
        for (first, second) in [(0, 1), (0, 7), (0, 14)] {
            let visits: Vec<Visit<'_>> =
                (0..5).flat_map(|turn| [(15 * turn + first, "p"), (15 * turn + second, "p")]).collect();
            for end in [15 + first, 15 + second] {
                let seen = shown(end, &visits);
                let after = visits.iter().position(|(at, _)| *at >= end).unwrap();
                assert_eq!(seen[after..after + 2], [true, true], "{first} {second} {end}");
                assert!(!seen[9], "{first} {second} {end}");
            }
        }
        // Nobody has come before.
        assert_eq!(shown(0, &[(3, "p"), (9, "p")]), [true, true]);
    }

    #[test]
    fn names_do_not_fill_the_memory() {
        let (now, mut scrapers) = (Instant::now(), Scrapers::default());
        for number in 0..1000 {
            scrapers.visit(&Scraper::new([127, 0, 0, 1].into(), &number.to_string().repeat(1000)), now);
        }
        assert_eq!(scrapers.0.len(), MOST);
        scrapers.forget(now + REGULAR);
        assert!(scrapers.0.is_empty());
    }
}
