//! The native half of the Python package `lightlag`: thin functions over the lab, and the bridge to
//! algorithms that are written in Python. What users see is documented in `python/lightlag`.

mod algorithms;
mod bound;
mod capture;
mod error;
mod figures;
mod hooks;
mod interrupt;
mod run;
mod scenario;
mod study;
mod sweep;
mod view;

/// The module `lightlag._lightlag`.
#[pyo3::pymodule]
mod _lightlag {
    #[pymodule_export]
    use crate::algorithms::{algorithms, hook_names, register};
    #[pymodule_export]
    use crate::bound::bounds;
    #[pymodule_export]
    use crate::capture::analyse_capture;
    #[pymodule_export]
    use crate::error::ScenarioError;
    #[pymodule_export]
    use crate::figures::{bars, chart_html, in_one_unit, lines, report_html, study_figures};
    #[pymodule_export]
    use crate::hooks::{Ack, Advice, ArrivalCounts, Cause, Loss, RateSample, Sent, TfrcReport, Window};
    #[pymodule_export]
    use crate::hooks::{AfterTransfer, Drop, DropReason, Move, Refusal, RefusedIds, Wait};
    #[pymodule_export]
    use crate::hooks::{Bundle, CensusView, Link, LocalView, PlannedContact, Replica, StoreView};
    #[pymodule_export]
    use crate::run::{Outcome, explain_trace};
    #[pymodule_export]
    use crate::scenario::{Point, ScenarioFile, schema};
    #[pymodule_export]
    use crate::study::{studies, study};
    #[pymodule_export]
    use crate::sweep::{Folder, Plan, compare_runs, merge, read_results};
    #[pymodule_export]
    use crate::view::{Source, view_frame, view_page, view_path, view_scenario};

    #[pymodule_export]
    const VERSION: &str = lightlag_lab::VERSION;
    #[pymodule_export]
    const COMMIT: &str = env!("LIGHTLAG_COMMIT");

    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) {
        lightlag_lab::set_commit(COMMIT);
    }
}
