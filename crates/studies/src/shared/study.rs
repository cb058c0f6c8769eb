//! A study as a row of a table, and the one driver that runs it.

use super::front::Shown;
use super::points::Points;
use super::words::Words;
use crate::STUDIES;
use crate::shared::over_time::Series;
use lightlag_lab::report::{Figure, Front, Report, ScenarioText, Table, Verdict};
use lightlag_lab::results::{Metrics, Results, Row};
use lightlag_lab::run::{Outcome, Progress};
use lightlag_lab::sweep;
use std::path::Path;
use std::sync::LazyLock;

/// The report in the folder of a study.
pub const REPORT_FILE: &str = "report.html";

/// Titles of tables that are printed on a terminal though they are not the first: those that compare all mechanisms.
const PRINTED: [&str; 2] = ["Figures 9 to 11", crate::universal::REGRETS];

/// Why a study stopped; one line each.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] lightlag_scenario::Error),
    /// The folder cannot be used, or a run failed.
    #[error(transparent)]
    Sweep(#[from] sweep::Error),
    /// A file cannot be written.
    #[error("cannot write {0}: {1}; name another folder")]
    Disk(String, std::io::Error),
    /// A measurement in real time is not possible here.
    #[error("--real: {0}")]
    Real(String),
    /// The study does not have the controller; one line that lists those it has.
    #[error("{0}")]
    Controller(String),
}

/// A study: what it reproduces, and its parts.
pub struct Study {
    /// Name on the command line.
    pub name: &'static str,
    /// Authors and year of the paper.
    pub paper: &'static str,
    /// What it shows, in one line.
    pub summary: &'static str,
    /// Duration on two cores with `--quick` and without, and with `--real` where that is supported.
    pub takes: &'static str,
    /// Title, introduction and claims in words.
    pub words: &'static LazyLock<Words>,
    /// What is run.
    pub plan: fn(&Order<'_>) -> Result<Points, Error>,
    /// The columns that a run adds to the table of results.
    pub metrics: fn(&Outcome) -> Metrics,
    /// Claims, figures and tables from the results.
    pub evaluate: fn(&Evidence<'_>) -> Result<Said, Error>,
    /// What is measured in real time as well.
    pub real: Real,
    /// Whether it judges controllers, and can be run for one of them alone.
    pub judges_controllers: bool,
    /// Whether it draws networks, and can be run with another seed.
    pub draws_networks: bool,
}

/// How a study is run.
pub struct Order<'a> {
    /// With fewer seeds and points, and shorter runs.
    pub quick: bool,
    /// The only controller to run, beside what it is compared with; `None`: all.
    pub controller: Option<&'a str>,
    /// The seed of the networks that are drawn; `None`: that of the documented figures.
    pub seed: Option<u64>,
    /// With measurements in real time, where they need to be requested.
    pub real: bool,
    /// Folder of the results; an interrupted study resumes from there.
    pub out: &'a Path,
    /// Runs at a time; 0: one per core.
    pub threads: usize,
    /// Who counts the runs that are done, and may stop the study; `None`: a bar is drawn, if there is a terminal.
    pub watch: Option<&'a Progress>,
}

/// What a study measures in real time, beside its runs; measured again each time.
pub enum Real {
    /// Nothing.
    Nothing,
    /// Always but with `--quick`; where it is not possible, the report has a warning.
    Always(fn() -> Result<Measured, String>),
    /// Only with `--real`; where it is not possible, the study stops.
    OnRequest(fn() -> Result<Measured, String>),
}

/// Measurements in real time.
#[derive(Default)]
pub struct Measured {
    /// Rows of the table of runs.
    pub rows: Vec<Row>,
    /// Series over time, for figures.
    pub over_time: Vec<Series>,
}

/// What claims, figures and tables are made from.
pub struct Evidence<'a> {
    /// Whether it is a quick look.
    pub quick: bool,
    /// All runs.
    pub results: &'a Results,
    /// Series over time that were measured in real time.
    pub over_time: Vec<Series>,
    /// The folder of the study; `None`: no pages are made that show runs.
    pub out: Option<&'a Path>,
}

impl Evidence<'_> {
    /// Pages that show runs, where there is a folder for them.
    ///
    /// # Errors
    /// What is wrong with a scenario.
    pub fn views(&self, make: impl Fn(&Path) -> Result<Vec<Shown>, Error>) -> Result<Vec<Shown>, Error> {
        self.out.map_or(Ok(Vec::new()), make)
    }
}

/// The statements of a study.
#[derive(Default)]
pub struct Said {
    /// The first screen.
    pub front: Front,
    /// The paper's claims beside our measurements.
    pub claims: Vec<Verdict>,
    /// Tables before all others.
    pub opening: Vec<Table>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Tables; the first is printed on a terminal.
    pub tables: Vec<Table>,
    /// Warnings beside that of a quick look.
    pub warnings: Vec<String>,
    /// Replacements for `{name}` in the introduction.
    pub facts: Vec<(&'static str, String)>,
    /// Scenarios that are written into the folder of the study under their names, and shown in the report.
    pub scenarios: Vec<ScenarioText>,
    /// Pages that show runs, written beside the report.
    pub views: Vec<Shown>,
}

/// A finished study.
pub struct Studied {
    /// All its runs.
    pub results: Results,
    /// Its report, ready to be written.
    pub report: Report,
    /// Violations that the judge found in all runs.
    pub violations: u64,
    /// Scenarios beside the report.
    pub scenarios: Vec<ScenarioText>,
    /// Pages beside the report.
    pub views: Vec<Shown>,
}

impl Study {
    /// Whether `--real` is supported.
    pub fn has_real(&self) -> bool {
        matches!(self.real, Real::OnRequest(_))
    }

    /// What is wrong if a controller or a seed is given to a study without them: the option, and a line that names the
    /// studies that have it.
    pub fn refused(&self, controller: Option<&str>, seed: Option<u64>) -> Option<(&'static str, String)> {
        type Has = fn(&Study) -> bool;
        let given: [(&str, bool, Has); 2] = [
            ("controller", controller.is_some(), |study| study.judges_controllers),
            ("seed", seed.is_some(), |study| study.draws_networks),
        ];
        let (option, _, has) = given.into_iter().find(|(_, given, has)| *given && !has(self))?;
        let with: Vec<&str> = STUDIES.iter().filter(|study| has(study)).map(|study| study.name).collect();
        Some((option, format!("not supported by study {}; use it with {}", self.name, with.join(", "))))
    }

    /// Runs the study, or what an interrupted one left to do.
    ///
    /// # Errors
    /// The folder cannot be used, or a requested measurement is not possible here.
    pub fn run(&self, order: &Order<'_>) -> Result<Studied, Error> {
        let mut warnings: Vec<String> = order.quick.then(|| self.words.quick.clone()).into_iter().collect();
        let measured = self.measure(order, &mut warnings)?;
        let points = (self.plan)(order)?;
        let mut results = points.run(order, self.metrics)?;
        results.rows.extend(measured.rows);
        let violations = results.rows.iter().filter_map(|row| row.metric("violations")).sum::<f64>() as u64;
        let evidence = Evidence {
            quick: order.quick,
            results: &results,
            over_time: measured.over_time,
            out: Some(order.out),
        };
        let said = (self.evaluate)(&evidence)?;
        warnings.extend(said.warnings);
        let report = Report {
            title: self.words.title.clone(),
            front: said.front,
            pages: said.views.iter().map(|shown| shown.view.clone()).collect(),
            cites: Some(self.words.cite.clone()).filter(|cite| !cite.is_empty()).into_iter().collect(),
            introduction: self.words.introduction(&said.facts),
            warnings,
            build: results.build.clone(),
            seeds: results.seeds(),
            runs: results.rows.len(),
            again: vec![self.command(order)],
            claims: said.claims,
            opening: said.opening,
            figures: said.figures,
            tables: said.tables,
            scenarios: points.scenarios.into_iter().chain(said.scenarios.iter().cloned()).collect(),
        };
        Ok(Studied { results, report, violations, scenarios: said.scenarios, views: said.views })
    }

    fn measure(&self, order: &Order<'_>, warnings: &mut Vec<String>) -> Result<Measured, Error> {
        match self.real {
            Real::OnRequest(measure) if order.real => measure().map_err(Error::Real),
            Real::Always(measure) if !order.quick => Ok(measure().unwrap_or_else(|why| {
                warnings.push(format!("Nothing was measured on real sockets: {why}."));
                Measured::default()
            })),
            _ => Ok(Measured::default()),
        }
    }

    /// The command that runs it again.
    pub(super) fn command(&self, order: &Order<'_>) -> String {
        let flags = [(order.quick, " --quick"), (order.real, " --real")];
        let given = flags.into_iter().filter(|(given, _)| *given).map(|(_, flag)| flag);
        let only = order.controller.map_or(String::new(), |name| format!(" --controller {name}"));
        let seed = order.seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
        format!("lightlag study {}{only}{seed}{}", self.name, given.collect::<String>())
    }
}

impl Studied {
    /// Writes the report, its figures and its claims into the folder of the study.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn write(&self, out: &Path) -> Result<(), Error> {
        let figures = out.join("figures");
        let wrong = |path: &Path, why| Error::Disk(path.display().to_string(), why);
        std::fs::create_dir_all(&figures).map_err(|why| wrong(&figures, why))?;
        let write = |path: &Path, text: String| std::fs::write(path, text).map_err(|why| wrong(path, why));
        write(&out.join(REPORT_FILE), self.report.html())?;
        for shown in &self.views {
            write(&out.join(&shown.view.file), shown.html.clone())?;
        }
        for scenario in &self.scenarios {
            let path = out.join(&scenario.name);
            let folder = path.parent().unwrap_or(out);
            std::fs::create_dir_all(folder).map_err(|why| wrong(folder, why))?;
            write(&path, scenario.text.clone())?;
        }
        for figure in &self.report.figures {
            let path = figures.join(format!("{}.vl.json", figure.id));
            write(&path, format!("{:#}\n", figure.specification))?;
        }
        write(&out.join("claims.json"), format!("{:#}\n", serde_json::json!(self.report.claims)))
    }
    /// Verdicts and the first table, for a terminal.
    pub fn terminal(&self) -> String {
        let mut text = String::new();
        for claim in &self.report.claims {
            text += &format!("{:4} {:15} {}\n", claim.id, claim.words(), claim.paper_says);
        }
        let (opening, tables) = (&self.report.opening, &self.report.tables);
        let is_shown = |table: &&Table| PRINTED.iter().any(|title| table.title.starts_with(title));
        let shown = opening.iter().chain(tables).find(is_shown).or(tables.first());
        text + "\n"
            + &shown
                .map_or(String::new(), |table| lightlag_lab::results::table_text(&table.head, &table.rows))
    }
}
