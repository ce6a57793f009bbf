//! `oshprof diff`, `gate` and `history` on real programs: two versions of one program differ by what is compiled in, so
//! what a comparison has to say is known.

#[path = "regression/baseline.rs"]
mod baseline;
#[path = "regression/bench.rs"]
mod bench;
#[path = "regression/exact.rs"]
mod exact;
#[path = "regression/export.rs"]
mod export;
#[path = "regression/pages.rs"]
mod pages;
#[path = "regression/pipeline.rs"]
mod pipeline;
#[path = "regression/readers.rs"]
mod readers;
#[path = "regression/runs.rs"]
mod runs;
#[path = "regression/time.rs"]
mod time;
