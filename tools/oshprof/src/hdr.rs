//! Call times as a log of HdrHistogram: a histogram a routine, under whose name it is. What reads such logs (in Java,
//! Python, JavaScript, C) merges, compares and plots them.
//!
//! The recorder's buckets are those of a histogram of this kind with one significant digit, so that all counts are in
//! the log as they are. One digit is an error of at most 1/16 of a time.

use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use pellucid_profile::histogram::{self, bounds, middle};
use pellucid_profile::merge::Merged;

/// What a value of the log's own columns is divided by, so that these are in seconds.
const SECOND: f64 = 1e9;
/// The longest time that other readers take, whose numbers have a sign, in nanoseconds.
const LONGEST: u64 = i64::MAX as u64;

/// The log of a profile. Routines whose calls were not timed have no line.
pub fn log(profile: &Merged) -> String {
    let mut text = Vec::new();
    let wall = Duration::from_nanos(profile.job.wall_ns);
    let start = SystemTime::UNIX_EPOCH + Duration::from_nanos(profile.job.start_realtime_ns);
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment(&format!("Times of calls in nanoseconds, by routine: {}", profile.job.program.escape_debug()))
        .with_base_time(start)
        .with_start_time(start)
        .with_max_value_divisor(SECOND);
    let mut writer = builder.begin_log_with(&mut text, &mut serializer).expect("memory can be written to");
    for routine in profile.routines.iter().filter(|routine| routine.latency.total() > 0) {
        let tag = Tag::new(&routine.name);
        let times = hdr(&routine.latency);
        writer.write_histogram(&times, Duration::ZERO, wall, tag).expect("a histogram with these bounds has a form");
    }
    drop(writer);
    String::from_utf8(text).expect("a log is ASCII")
}

/// The same counts.
fn hdr(times: &histogram::Histogram) -> Histogram<u64> {
    let last = times.counts().last().map_or(0, |&(bucket, _)| bounds(usize::from(bucket)).1);
    let mut hdr = Histogram::new_with_max(last.clamp(2, LONGEST), 1).expect("the bound and the digits are valid");
    for &(bucket, count) in times.counts() {
        hdr.saturating_record_n(middle(usize::from(bucket)), count);
    }
    hdr
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use pellucid_profile::histogram::BUCKETS;
    use pellucid_profile::model::Routine;
    use pellucid_profile::op::Class;

    /// What a reader finds in a log: the routine, its length in seconds, and its counts.
    fn read(log: &str) -> Vec<(String, Duration, Histogram<u64>)> {
        let entries = IntervalLogIterator::new(log.as_bytes()).map(|entry| entry.expect("a log"));
        let interval = |entry| match entry {
            LogEntry::Interval(interval) => {
                let bytes = STANDARD.decode(interval.encoded_histogram()).expect("base64");
                let times = Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram");
                Some((interval.tag().expect("a routine").as_str().to_owned(), interval.duration(), times))
            }
            _ => None,
        };
        entries.filter_map(interval).collect()
    }

    #[test]
    fn a_reader_finds_each_routine_with_its_counts() {
        let mut profile = Merged::default();
        (profile.job.program, profile.job.wall_ns) = ("./a\nb".into(), 2_500_000_000);
        let mut put = Routine::new("shmem_long_put", Class::Put);
        (0..2000).for_each(|ns| put.latency.record(ns, 3));
        let mut barrier = Routine::new("shmem_barrier_all", Class::Barrier);
        barrier.latency.record(1_000_000_000, 7);
        profile.routines = vec![put, barrier, Routine::new("shmem_quiet", Class::Order)];
        let log = log(&profile);
        let found = read(&log);
        let heads: Vec<_> = found.iter().map(|(name, length, times)| (name.as_str(), *length, times.len())).collect();
        let wall = Duration::from_millis(2500);
        assert_eq!(heads, [("shmem_long_put", wall, 6000), ("shmem_barrier_all", wall, 7)], "{log}");
        let median = found[0].2.value_at_quantile(0.5);
        assert!((1000 - 64..=1000 + 64).contains(&median), "{median}");
        assert!(log.starts_with("#Times of calls in nanoseconds, by routine: ./a\\nb\n"), "{log}");
    }

    #[test]
    fn buckets_are_those_of_one_digit() {
        let readable = (0..BUCKETS).filter(|&bucket| bounds(bucket).1 <= LONGEST);
        let all = readable.map(|bucket| (bucket as u16, bucket as u64 + 1));
        let ours = histogram::Histogram::from_counts(all);
        let theirs = hdr(&ours);
        assert_eq!(theirs.len(), ours.total());
        for &(bucket, count) in ours.counts() {
            let (low, high) = bounds(usize::from(bucket));
            assert_eq!((theirs.lowest_equivalent(high), theirs.highest_equivalent(low)), (low, high), "{bucket}");
            assert_eq!(theirs.count_at(low), count, "{bucket}");
        }
    }
}
