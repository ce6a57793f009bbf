//! Every metric: the one place that encoders, `docs/metrics.md`, the dashboards' tests and OTLP take names from.

/// What kind of metric it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Never decreases while the job runs. Its name ends in `_total`.
    Counter,
    /// A value that goes up and down.
    Gauge,
    /// A histogram with exact classic buckets; in protobuf and OTLP with exponential ones as well.
    Histogram,
    /// Always 1: what matters are the labels. Its name ends in `_info`.
    Info,
}

impl Kind {
    /// Lower-case name, as documents write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Info => "info",
        }
    }
}

/// Which metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the table describes each")]
pub enum Id {
    JobInfo,
    JobPes,
    JobLocalPes,
    JobSurvives,
    JobStart,
    JobState,
    Calls,
    CallBytes,
    CallErrors,
    CallSeconds,
    CallDuration,
    MessageSize,
    Waiting,
    CommunicationRatio,
    SlowestPe,
    BlockedPes,
    LongestWait,
    LostPes,
    WaitCycles,
    Late,
    NbiOverlap,
    Region,
    HeapUsed,
    HeapSize,
    Overhead,
    TraceDropped,
    Network,
    BuildInfo,
    Jobs,
    ScrapeDuration,
    ReadErrors,
    Series,
    SeriesDropped,
}

/// One metric.
#[derive(Debug)]
pub struct Row {
    /// Which.
    pub id: Id,
    /// Name in Prometheus.
    pub name: &'static str,
    /// Name in OpenTelemetry.
    pub otel: &'static str,
    /// Unit as OpenMetrics writes it, the end of the name; empty for none.
    pub unit: &'static str,
    /// Unit as OpenTelemetry writes it (UCUM).
    pub ucum: &'static str,
    /// Kind.
    pub kind: Kind,
    /// Labels in their order.
    pub labels: &'static [&'static str],
    /// What it says, one sentence or two.
    pub help: &'static str,
}

impl Row {
    /// The name without what OpenMetrics has only in samples.
    pub fn family(&self) -> &'static str {
        match self.kind {
            Kind::Counter => self.name.strip_suffix("_total").unwrap_or(self.name),
            Kind::Info => self.name.strip_suffix("_info").unwrap_or(self.name),
            Kind::Gauge | Kind::Histogram => self.name,
        }
    }
}

/// The row of a metric.
pub fn row(id: Id) -> &'static Row {
    &TABLE[id as usize]
}

const fn counter(
    id: Id,
    (name, otel): (&'static str, &'static str),
    (unit, ucum): (&'static str, &'static str),
    labels: &'static [&'static str],
    help: &'static str,
) -> Row {
    Row { id, name, otel, unit, ucum, kind: Kind::Counter, labels, help }
}

const fn gauge(
    id: Id,
    (name, otel): (&'static str, &'static str),
    (unit, ucum): (&'static str, &'static str),
    labels: &'static [&'static str],
    help: &'static str,
) -> Row {
    Row { id, name, otel, unit, ucum, kind: Kind::Gauge, labels, help }
}

const SECONDS: (&str, &str) = ("seconds", "s");
const BYTES: (&str, &str) = ("bytes", "By");
const RATIO: (&str, &str) = ("ratio", "1");
/// Labels of what waits.
const BY_KIND: &[&str] = &["job_id", "kind"];

/// All metrics, in the order of their [`Id`]s.
pub static TABLE: &[Row] = &[
    Row {
        id: Id::JobInfo,
        name: "shmem_job_info",
        otel: "shmem.job.info",
        unit: "",
        ucum: "1",
        kind: Kind::Info,
        labels: &["job_id", "step", "program", "user", "launcher", "transport", "version", "level", "scope"],
        help: "Who and what a job is: join it by job_id. user is empty unless the exporter was asked to show it; scope \
            is host for one host's share of the job and job for all of it.",
    },
    gauge(Id::JobPes, ("shmem_job_pes", "shmem.job.pes"), ("", "{pe}"), &["job_id"], "PEs of the job, on all hosts."),
    gauge(
        Id::JobLocalPes,
        ("shmem_job_local_pes", "shmem.job.local_pes"),
        ("", "{pe}"),
        &["job_id"],
        "PEs of the job that these numbers are about.",
    ),
    gauge(
        Id::JobSurvives,
        ("shmem_job_survives", "shmem.job.survives"),
        ("", "1"),
        &["job_id"],
        "1 where the job goes on without PEs that are killed (oshrun --survive), else 0. Of jobs that are shown live.",
    ),
    gauge(
        Id::JobStart,
        ("shmem_job_start_timestamp_seconds", "shmem.job.start_timestamp"),
        SECONDS,
        &["job_id"],
        "When the job started, in seconds since 1970.",
    ),
    gauge(
        Id::JobState,
        ("shmem_job_state", "shmem.job.state"),
        ("", "1"),
        &["job_id", "state"],
        "1 for the state that the job is in, 0 for the others: starting, running, finished, failed, killed.",
    ),
    counter(
        Id::Calls,
        ("shmem_calls_total", "shmem.calls"),
        ("", "{call}"),
        &["job_id", "op", "distance"],
        "Calls of OpenSHMEM routines by operation and by how far the target is. Exact.",
    ),
    counter(
        Id::CallBytes,
        ("shmem_call_bytes_total", "shmem.call.io"),
        BYTES,
        &["job_id", "op", "distance"],
        "Bytes that calls moved by operation and by how far the target is. Exact.",
    ),
    counter(
        Id::CallErrors,
        ("shmem_call_errors_total", "shmem.call.errors"),
        ("", "{error}"),
        &["job_id", "op"],
        "Calls that reported failure. Exact.",
    ),
    counter(
        Id::CallSeconds,
        ("shmem_call_seconds_total", "shmem.call.time"),
        SECONDS,
        &["job_id", "op"],
        "Time in calls, also in those under way, summed over PEs. Long calls are timed one by one, short ones sampled.",
    ),
    Row {
        id: Id::CallDuration,
        name: "shmem_call_duration_seconds",
        otel: "shmem.call.duration",
        unit: "seconds",
        ucum: "s",
        kind: Kind::Histogram,
        labels: &["job_id", "class"],
        help: "Durations of calls, of short ones those of samples and what they stand for. Bounds of classic buckets \
            are bounds of the recorder, native buckets are approximate (the middle of a bucket is placed). The count \
            is of the calls that timed ones stand for, which is not shmem_calls_total.",
    },
    Row {
        id: Id::MessageSize,
        name: "shmem_message_size_bytes",
        otel: "shmem.message.size",
        unit: "bytes",
        ucum: "By",
        kind: Kind::Histogram,
        labels: &["job_id", "class"],
        help: "Sizes of messages: bytes of a call that moves data. Classic buckets are exact.",
    },
    counter(
        Id::Waiting,
        ("shmem_waiting_seconds_total", "shmem.wait.time"),
        SECONDS,
        BY_KIND,
        "Time in routines that wait for other PEs, summed over PEs, calls that have not returned included.",
    ),
    gauge(
        Id::CommunicationRatio,
        ("shmem_pe_communication_ratio", "shmem.pe.communication_ratio"),
        RATIO,
        &["job_id", "stat", "pe"],
        "Share of its time that a PE spent in the library since shmem_init, as far as it is recorded: least, mean and \
         most of the PEs, absent where nothing is; with --pe-labels stat is pe for those with most.",
    ),
    gauge(
        Id::SlowestPe,
        ("shmem_slowest_pe", "shmem.slowest_pe"),
        ("", "{pe}"),
        BY_KIND,
        "The PE that others wait for: now, where they do, else the one by whose late arrival most was lost. -1: none.",
    ),
    gauge(
        Id::BlockedPes,
        ("shmem_blocked_pes", "shmem.blocked_pes"),
        ("", "{pe}"),
        BY_KIND,
        "PEs that are in a routine that waits for other PEs.",
    ),
    gauge(
        Id::LongestWait,
        ("shmem_longest_wait_seconds", "shmem.longest_wait"),
        SECONDS,
        &["job_id", "kind", "pe"],
        "How long the PE that waits longest has been waiting; with --pe-labels those that wait longest as well.",
    ),
    gauge(
        Id::LostPes,
        ("shmem_lost_pes", "shmem.lost_pes"),
        ("", "{pe}"),
        &["job_id"],
        "PEs whose process ended before they had finalized.",
    ),
    gauge(
        Id::WaitCycles,
        ("shmem_wait_cycles", "shmem.wait_cycles"),
        ("", "{cycle}"),
        &["job_id"],
        "Deadlocks: rings of PEs that have been waiting for each other for a second or longer.",
    ),
    counter(
        Id::Late,
        ("shmem_late_seconds_total", "shmem.late.time"),
        SECONDS,
        &["job_id", "op"],
        "Time that PEs spent waiting for the last one to arrive in a barrier or collective, summed over PEs.",
    ),
    gauge(
        Id::NbiOverlap,
        ("shmem_nbi_overlap_ratio", "shmem.nbi.overlap_ratio"),
        RATIO,
        &["job_id"],
        "Share of the time from issue to completion of nonblocking operations that was spent neither in the calls that \
         issue them nor in the completing call; absent before the first, and within a host where the profile is not \
         kept (oshrun --profile).",
    ),
    counter(
        Id::Region,
        ("shmem_region_seconds_total", "shmem.region.time"),
        SECONDS,
        &["job_id", "region"],
        "Time in the program's named regions (shmem_pcontrol) without inner ones, summed over PEs.",
    ),
    gauge(
        Id::HeapUsed,
        ("shmem_heap_used_bytes", "shmem.heap.used"),
        BYTES,
        &["job_id", "stat", "pe"],
        "Bytes in objects of the symmetric heaps: sum over the PEs, and most of a PE; with --pe-labels stat is pe for \
         those with most.",
    ),
    gauge(
        Id::HeapSize,
        ("shmem_heap_size_bytes", "shmem.heap.size"),
        BYTES,
        &["job_id", "stat"],
        "Bytes of the symmetric heaps: sum over the PEs, and most of a PE.",
    ),
    counter(
        Id::Overhead,
        ("shmem_profile_overhead_seconds_total", "shmem.profile.overhead"),
        SECONDS,
        &["job_id"],
        "What recording took of the PEs' time, by what a call costs when measured at the start.",
    ),
    counter(
        Id::TraceDropped,
        ("shmem_trace_dropped_events_total", "shmem.trace.dropped_events"),
        ("", "{event}"),
        &["job_id"],
        "Events that the trace does not have: overwritten by later ones, without room, or of threads without a file.",
    ),
    counter(
        Id::Network,
        ("shmem_network_events_total", "shmem.network.events"),
        ("", "1"),
        &["job_id", "event"],
        "What the transport between hosts counts of itself, by its own names.",
    ),
    Row {
        id: Id::BuildInfo,
        name: "shmem_exporter_build_info",
        otel: "shmem.exporter.build.info",
        unit: "",
        ucum: "1",
        kind: Kind::Info,
        labels: &["version"],
        help: "Version of the exporter.",
    },
    gauge(
        Id::Jobs,
        ("shmem_exporter_jobs", "shmem.exporter.jobs"),
        ("", "{job}"),
        &["state"],
        "Jobs that the exporter knows: running, and ended but not yet scraped.",
    ),
    gauge(
        Id::ScrapeDuration,
        ("shmem_exporter_scrape_duration_seconds", "shmem.exporter.scrape.duration"),
        SECONDS,
        &[],
        "How long reading all jobs took for this answer.",
    ),
    counter(
        Id::ReadErrors,
        ("shmem_exporter_read_errors_total", "shmem.exporter.read_errors"),
        ("", "{error}"),
        &[],
        "Profile segments that could not be read: of another build, or damaged.",
    ),
    gauge(
        Id::Series,
        ("shmem_exporter_series", "shmem.exporter.series"),
        ("", "{series}"),
        &[],
        "Series of this answer.",
    ),
    counter(
        Id::SeriesDropped,
        ("shmem_exporter_series_dropped_total", "shmem.exporter.series_dropped"),
        ("", "{series}"),
        &[],
        "Series that were left out of answers because their job had more than --max-series-per-job.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_their_ids_and_named_by_the_rules() {
        for (at, row) in TABLE.iter().enumerate() {
            assert_eq!(row.id as usize, at, "{}", row.name);
            assert_eq!(row.name.ends_with("_total"), row.kind == Kind::Counter, "{}", row.name);
            assert_eq!(row.name.ends_with("_info"), row.kind == Kind::Info, "{}", row.name);
            assert!(row.unit.is_empty() || row.family().ends_with(row.unit), "{}: {}", row.name, row.unit);
            assert!(row.help.ends_with('.') && !row.help.contains('\n'), "{}", row.name);
            // From there on they are about the exporter and not about a job.
            assert!((row.id >= Id::BuildInfo) != row.labels.contains(&"job_id"), "{}", row.name);
            assert!(!row.labels.contains(&"job"), "Prometheus owns that label");
        }
    }
}
