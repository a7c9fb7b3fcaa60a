//! Reports on graded runs: documents for programs, and what is rendered from them for people.
//!
//! A document is made from a run's header and its graded answers alone, so it can be made again,
//! under another rule too, without running anything. Equal runs make equal documents, byte for
//! byte, once [`BenchmarkReport::without_times`] has taken out what differs by chance.

mod arm;
mod bands;
mod benchmark;
mod budget;
mod calibration;
mod compare;
mod costs;
mod fail_on;
mod figures;
mod grid;
mod head;
mod judges;
mod notes;
mod pair;
mod pairing;
pub mod plausible;
mod reliability;
pub mod render;
mod result;
mod run_report;
mod section;
mod sentence;
mod share;
mod slices;
#[cfg(test)]
pub(crate) mod tests;

pub use arm::ArmReport;
pub use bands::Band;
pub use benchmark::{BENCHMARK_FORMAT, BenchmarkReport};
pub use budget::BudgetPoint;
pub use calibration::{Calibration, ReliabilityBin, RiskCoveragePoint};
pub use compare::{
    BudgetRow, COMPARE_FORMAT, CompareOptions, CompareReport, ParetoSets, ShareOfArm,
};
pub use costs::{Costs, Latency};
pub use fail_on::{FailOn, FailOnError, fail_on, failing};
pub use figures::{AllFailed, Ends, Figures, Outcomes, RuleShare, all_failed};
pub use grid::{Cell, GRID_FORMAT, GridReport};
pub use head::{Basis, Partial, ReportHead, SuiteOfReport};
pub use judges::{JudgeReport, Rate};
pub use pair::{Decision, Flipped, PairReport, RightOne, RuleDifference, SliceDifference};
pub use pairing::{Clusters, CostOfOneMoreRight, Drawn, EProcess};
pub use reliability::{AllRight, OriginShare};
pub use result::{Metrics, ResultRow};
pub use run_report::RunReport;
pub use section::Section;
pub use share::Share;
pub(crate) use share::thin_out;
pub use slices::{SLICE_VALUES, Slice};
