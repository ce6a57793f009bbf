//! The panels. In queries `@job` stands for the matchers of the chosen jobs, `@all` for those of the chosen exporters.
//! A query with `@by` is asked twice: for series that say of which job they are, by job, and for those of hosts whose
//! exporters run with `--labels node`, by host; `@series` stands for the matchers of either.

/// How a panel shows its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Lines over time.
    Lines,
    /// Areas on each other over time.
    Areas,
    /// One number.
    Number,
    /// A row for each series.
    Table,
    /// Bars.
    Bars,
}

/// A query and how its series are called.
#[derive(Debug)]
pub struct Query {
    /// PromQL.
    pub expr: &'static str,
    /// Legend, with labels in double braces.
    pub legend: &'static str,
}

/// A panel.
#[derive(Debug)]
pub struct Panel {
    /// Title.
    pub title: &'static str,
    /// What it tells, and what to do about it.
    pub description: &'static str,
    /// How.
    pub shape: Shape,
    /// Grafana's unit.
    pub unit: &'static str,
    /// Width of 24, and height.
    pub size: (u32, u32),
    /// Queries.
    pub queries: &'static [Query],
    /// Has data only where something has happened: named regions, a network, an error.
    pub event_only: bool,
}

/// A dashboard.
#[derive(Debug)]
pub struct Dashboard {
    /// File name, and the end of its uid.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Whether jobs can be chosen.
    pub by_job: bool,
    /// Panels, from left to right and down.
    pub panels: &'static [Panel],
}

const fn query(expr: &'static str, legend: &'static str) -> Query {
    Query { expr, legend }
}

const fn panel(
    (title, description): (&'static str, &'static str),
    (shape, unit): (Shape, &'static str),
    size: (u32, u32),
    queries: &'static [Query],
) -> Panel {
    Panel { title, description, shape, unit, size, queries, event_only: false }
}

const fn event(panel: Panel) -> Panel {
    Panel { event_only: true, ..panel }
}

/// All dashboards.
pub static DASHBOARDS: [Dashboard; 4] = [FLEET, JOB, BALANCE, EXPORTER];

const FLEET: Dashboard = Dashboard {
    name: "fleet",
    title: "OpenSHMEM fleet",
    description: "All jobs of all hosts: which run, which are in trouble, which move most.",
    by_job: false,
    panels: &[
        panel(
            ("Jobs that run", "Jobs of which a host's exporter says that they run."),
            (Shape::Number, "none"),
            (6, 5),
            &[query(
                "count(count by (job_id) (\
                 shmem_job_info{@all} and on (job_id, instance) shmem_job_state{@all, state=\"running\"} == 1 \
                 or shmem_job_info{@all} and on (instance) \
                 shmem_job_state{@all, state=\"running\", job_id=\"\"} == 1)) or vector(0)",
                "jobs",
            )],
        ),
        panel(
            ("PEs", "PEs of the jobs that run."),
            (Shape::Number, "none"),
            (6, 5),
            &[query(
                "sum(shmem_job_local_pes{@all} and on (job_id, instance) \
                 shmem_job_state{@all, state=\"running\"} == 1) or vector(0)",
                "PEs",
            )],
        ),
        panel(
            ("Deadlocks", "Rings of PEs that wait for each other, in jobs that run. Runbook: ShmemDeadlock."),
            (Shape::Number, "none"),
            (6, 5),
            &[query(
                "sum(shmem_wait_cycles{@all} and on (job_id, instance) \
                 shmem_job_state{@all, state=\"running\"} == 1) or vector(0)",
                "rings",
            )],
        ),
        panel(
            ("Lost PEs", "PEs of jobs that run, which ended before shmem_finalize. Runbook: ShmemPeLost."),
            (Shape::Number, "none"),
            (6, 5),
            &[query(
                "sum(shmem_lost_pes{@all} and on (job_id, instance) \
                 shmem_job_state{@all, state=\"running\"} == 1) or vector(0)",
                "PEs",
            )],
        ),
        panel(
            ("Jobs", "Program, launcher and transport of each job."),
            (Shape::Table, "none"),
            (24, 8),
            &[query("max by (job_id, step, program, user, launcher, transport) (shmem_job_info{@all})", "{{job_id}}")],
        ),
        panel(
            ("Bytes moved, by job", "Puts, gets, atomics and collectives together."),
            (Shape::Areas, "Bps"),
            (12, 8),
            &[query(
                "sum by (@by) (rate(shmem_call_bytes_total{@series}[$__rate_interval]))",
                "{{job_id}}{{instance}}",
            )],
        ),
        panel(
            (
                "Time in waiting, by job",
                "Share of the PEs' time in barriers, waits, collectives and locks. 100 %: all wait.",
            ),
            (Shape::Lines, "percentunit"),
            (12, 8),
            &[query(
                "sum by (@by) (rate(shmem_waiting_seconds_total{@series}[$__rate_interval])) / sum by (@by) \
                 (shmem_job_local_pes{@series})",
                "{{job_id}}{{instance}}",
            )],
        ),
    ],
};

const JOB: Dashboard = Dashboard {
    name: "job",
    title: "OpenSHMEM job",
    description: "One job: is it running, how much of its time is communication, what waits for whom, who is late.",
    by_job: true,
    panels: &[
        panel(
            ("State", "1 for the state that the job is in."),
            (Shape::Number, "none"),
            (4, 5),
            &[query("max by (state) (shmem_job_state{@job}) == 1", "{{state}}")],
        ),
        panel(
            ("Communication", "Share of its time that the mean PE has spent in the library since the start."),
            (Shape::Number, "percentunit"),
            (4, 5),
            &[query("avg(shmem_pe_communication_ratio{@job, stat=\"mean\"})", "mean PE")],
        ),
        panel(
            ("Blocked PEs", "PEs that are in a routine that waits for others, by kind."),
            (Shape::Number, "none"),
            (6, 5),
            &[query("sum by (kind) (shmem_blocked_pes{@job})", "{{kind}}")],
        ),
        panel(
            ("Whom others wait for", "The PE that most wait for, or by which most was lost so far; -1: none."),
            (Shape::Number, "none"),
            (6, 5),
            &[query("max by (kind) (shmem_slowest_pe{@job})", "{{kind}}")],
        ),
        panel(
            ("Deadlocks", "Rings of PEs that wait for each other. Runbook: ShmemDeadlock."),
            (Shape::Number, "none"),
            (4, 5),
            &[query("sum(shmem_wait_cycles{@job})", "rings")],
        ),
        panel(
            ("Calls, by operation", "Calls a second of each operation, all PEs."),
            (Shape::Lines, "cps"),
            (12, 8),
            &[query("sum by (op) (rate(shmem_calls_total{@job}[$__rate_interval])) > 0", "{{op}}")],
        ),
        panel(
            ("Time, by operation", "PEs' seconds a second in each operation: 4 is all of 4 PEs' time."),
            (Shape::Areas, "none"),
            (12, 8),
            &[query("sum by (op) (rate(shmem_call_seconds_total{@job}[$__rate_interval])) > 0", "{{op}}")],
        ),
        panel(
            ("Bytes, by distance", "To the PE itself, to its host, to other hosts."),
            (Shape::Areas, "Bps"),
            (12, 8),
            &[query("sum by (distance) (rate(shmem_call_bytes_total{@job}[$__rate_interval]))", "{{distance}}")],
        ),
        panel(
            (
                "Duration of calls, 99 %",
                "99 % of the calls of a class take no longer. Bounds of buckets are a factor of 4 apart, of native \
                 histograms less.",
            ),
            (Shape::Lines, "s"),
            (12, 8),
            &[query(
                "histogram_quantile(0.99, sum by (le, class) \
                 (rate(shmem_call_duration_seconds_bucket{@job}[$__rate_interval]))) > 0 \
                 or histogram_quantile(0.99, sum by (class) \
                 (rate(shmem_call_duration_seconds{@job}[$__rate_interval]))) > 0",
                "{{class}}",
            )],
        ),
        panel(
            ("Size of messages, median", "Half of the messages of a class are no larger."),
            (Shape::Lines, "bytes"),
            (12, 8),
            &[query(
                "histogram_quantile(0.5, sum by (le, class) \
                 (rate(shmem_message_size_bytes_bucket{@job}[$__rate_interval]))) > 0 \
                 or histogram_quantile(0.5, sum by (class) \
                 (rate(shmem_message_size_bytes{@job}[$__rate_interval]))) > 0",
                "{{class}}",
            )],
        ),
        panel(
            ("Symmetric heap, fullest PE", "In use, and all there is. Runbook: ShmemHeapAlmostFull."),
            (Shape::Lines, "bytes"),
            (12, 8),
            &[
                query("max(shmem_heap_used_bytes{@job, stat=\"max\"})", "in use"),
                query("max(shmem_heap_size_bytes{@job, stat=\"max\"})", "size"),
            ],
        ),
        event(panel(
            ("Time, by region", "Regions that the program names with shmem_pcontrol."),
            (Shape::Areas, "none"),
            (12, 8),
            &[query("sum by (region) (rate(shmem_region_seconds_total{@job}[$__rate_interval]))", "{{region}}")],
        )),
        event(panel(
            ("Network", "What the transport between hosts counts."),
            (Shape::Lines, "cps"),
            (12, 8),
            &[query("sum by (event) (rate(shmem_network_events_total{@job}[$__rate_interval]))", "{{event}}")],
        )),
    ],
};

const BALANCE: Dashboard = Dashboard {
    name: "balance",
    title: "OpenSHMEM balance",
    description: "How evenly a job's PEs work, and what late ones cost the others.",
    by_job: true,
    panels: &[
        panel(
            (
                "Communication of PEs",
                "Share of its time in the library: the PE with least, the mean, the PE with most.",
            ),
            (Shape::Lines, "percentunit"),
            (12, 8),
            &[query("max by (stat) (shmem_pe_communication_ratio{@job})", "{{stat}}")],
        ),
        panel(
            ("Lost to the last to arrive", "PEs' seconds a second that go into waiting for the last PE, by operation."),
            (Shape::Areas, "none"),
            (12, 8),
            &[query("sum by (op) (rate(shmem_late_seconds_total{@job}[$__rate_interval]))", "{{op}}")],
        ),
        panel(
            ("Waiting, by kind", "PEs' seconds a second in routines that wait for others."),
            (Shape::Areas, "none"),
            (12, 8),
            &[query("sum by (kind) (rate(shmem_waiting_seconds_total{@job}[$__rate_interval]))", "{{kind}}")],
        ),
        panel(
            ("Longest wait", "How long the PE that waits longest has been waiting. Runbook: ShmemNoProgress."),
            (Shape::Lines, "s"),
            (12, 8),
            &[query("max by (kind) (shmem_longest_wait_seconds{@job})", "{{kind}}")],
        ),
        panel(
            (
                "Whom others wait for, over time",
                "The number of the PE. A straight line is one PE that is late again and again.",
            ),
            (Shape::Lines, "none"),
            (12, 8),
            &[query("max by (kind) (shmem_slowest_pe{@job})", "{{kind}}")],
        ),
        panel(
            (
                "Overlap of nonblocking operations",
                "Share of the time from issue to completion that was not spent waiting.",
            ),
            (Shape::Bars, "percentunit"),
            (12, 8),
            &[query("max by (job_id, instance) (shmem_nbi_overlap_ratio{@job})", "{{job_id}} {{instance}}")],
        ),
    ],
};

const EXPORTER: Dashboard = Dashboard {
    name: "exporter",
    title: "OpenSHMEM exporters",
    description: "The exporters themselves: do they answer, how fast, what do they leave out.",
    by_job: false,
    panels: &[
        panel(
            ("Exporters that answer", "Runbook: ShmemExporterDown."),
            (Shape::Number, "none"),
            (8, 5),
            &[query("sum(up{@all})", "exporters")],
        ),
        panel(
            ("Series", "Of all answers together."),
            (Shape::Number, "none"),
            (8, 5),
            &[query("sum(shmem_exporter_series{@all})", "series")],
        ),
        panel(
            ("Versions", "Exporters of each version."),
            (Shape::Table, "none"),
            (8, 5),
            &[query("count by (version) (shmem_exporter_build_info{@all})", "{{version}}")],
        ),
        panel(
            ("Time of a scrape", "How long reading all jobs of a host takes."),
            (Shape::Lines, "s"),
            (12, 8),
            &[query("max by (instance) (shmem_exporter_scrape_duration_seconds{@all})", "{{instance}}")],
        ),
        panel(
            ("Jobs", "Running, and ended but not yet scraped for the last time."),
            (Shape::Areas, "none"),
            (12, 8),
            &[query("sum by (state) (shmem_exporter_jobs{@all})", "{{state}}")],
        ),
        panel(
            ("Series left out", "Because a job has too many. Runbook: ShmemSeriesDropped."),
            (Shape::Lines, "none"),
            (12, 8),
            &[query(
                "sum by (instance) (increase(shmem_exporter_series_dropped_total{@all}[$__rate_interval]))",
                "{{instance}}",
            )],
        ),
        panel(
            ("Segments that could not be read", "Of another build of the library, or damaged."),
            (Shape::Lines, "none"),
            (12, 8),
            &[query(
                "sum by (instance) (increase(shmem_exporter_read_errors_total{@all}[$__rate_interval]))",
                "{{instance}}",
            )],
        ),
    ],
};
