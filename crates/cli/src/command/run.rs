//! `lightlag run`.

use super::progress::Shown;
use super::{print_warnings, read, tell_traces, text};
use crate::args::Run;
use crate::output::{Done, Failure, make_folder, print, print_table, tell_violations, write_file};
use crate::outputs::keep_apart;
use lightlag_capture::Where;
use lightlag_lab::metrics::{Part, RunName};
use lightlag_lab::plot::SERIES_FILE;
use lightlag_lab::results::{Build, RESULTS_FILE, SUMMARY_FILE, number, table_text};
use lightlag_lab::run::{ContactsCache, Options, Outcome, run as run_one};
use lightlag_lab::sweep::{JOURNAL_FILE, MANIFEST_FILE};
use lightlag_lab::view::Written;
use lightlag_scenario::{Point, Scenario, ScenarioFile, Seed};
use std::path::{Path, PathBuf};

/// The report of a run's series, beside [`SERIES_FILE`].
const SERIES_REPORT: &str = "series.html";

pub fn run(options: &Run) -> Done {
    let file = read(&options.source)?;
    let mut points = file.points()?;
    let count = points.list.len();
    let point = choose(std::mem::take(&mut points.list), options.which.point)?;
    let seed = first_seed(options.which.seed, &file)?;
    let wanted = Options {
        judge: !options.no_judge,
        reports: !options.no_reports,
        series: options.out.is_some(),
        traces: options.traces.clone(),
        capture: options.capture.as_deref().map_or_else(Where::default, Where::parse),
        ..Options::default()
    };
    let traces = options.traces.iter().map(|path| ("--trace", Some(path.as_path())));
    keep_apart(&options.source.files[0], "the scenario", &Vec::from_iter(traces))?;
    if let Some(folder) = &options.out {
        refuse_sweep(folder)?;
        make_folder(folder)?;
    }
    tell_points(count, options.which.point, &point);
    print_warnings(&points);
    tell_traces([&point]);
    tell_plan(&point.scenario);
    let shown = Shown::start(&point.scenario);
    let wanted = Options { progress: shown.progress(), ..wanted };
    let outcome = run_one(&point.scenario, seed, &ContactsCache::default(), &wanted);
    drop(shown);
    let mut outcome = outcome?;
    outcome.figures.warnings = points.every_warning();
    let head = point.scenario.head();
    let (scenario, asked, seed) = (head.name.clone(), seed, head.seed_number(seed));
    outcome.figures.run = Some(RunName { scenario, seed, build: Build::this() });
    write_files(options, &outcome, &head.name, seed)?;
    if let Some(folder) = &options.out {
        Written::of_run(&file, &text(&file), &point, asked)?.write(folder)?;
    }
    if options.json {
        print(&(outcome.figures.json() + "\n"))?;
    } else {
        print_table(&table(&outcome))?;
    }
    for line in outcome.figures.why.iter().chain(&outcome.figures.odd) {
        eprintln!("{line}");
    }
    tell_violations(&head.name, &outcome.violations, outcome.violations_total)
}

/// Which algorithms know later contacts.
fn tell_plan(scenario: &Scenario) {
    let Scenario::Bundles(network) = scenario else { return };
    let readers = Vec::from_iter(network.plan_readers(&network.plan().into()).0);
    if !readers.is_empty() {
        eprintln!("read the contact plan: {}", readers.join(", "));
    }
}

/// Reports which point is run, if there are several.
pub(super) fn tell_points(count: usize, number: Option<usize>, point: &Point) {
    if count <= 1 {
        return;
    }
    let values: Vec<String> = point.values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let others = match number {
        None => "; --point N chooses another one, from 0 on, `lightlag sweep` runs all",
        Some(_) => "",
    };
    eprintln!("point {} of {count} ({}){others}", number.unwrap_or(0), values.join(", "));
}

/// The seed of `--seed`, or else the file's first.
pub(super) fn first_seed(number: Option<u64>, file: &ScenarioFile) -> Result<Seed, Failure> {
    Ok(match number {
        Some(number) => Seed::Number(number),
        None => file.seeds()?.first().copied().unwrap_or(Seed::Own),
    })
}

/// The point of `--point`, or else the first.
pub(super) fn choose(mut points: Vec<Point>, point: Option<usize>) -> Result<Point, Failure> {
    let count = points.len();
    match point {
        Some(index) if index < count => Ok(points.swap_remove(index)),
        Some(index) => {
            Err(Failure::Input(format!("--point {index}: the scenario has points 0 to {}", count - 1)))
        }
        None if count == 0 => Err(Failure::Input("the scenario has no points".to_owned())),
        None => Ok(points.swap_remove(0)),
    }
}

/// Refuses the folder of a sweep, whose summary a run would replace.
fn refuse_sweep(folder: &Path) -> Done {
    let is_sweep = [MANIFEST_FILE, JOURNAL_FILE, RESULTS_FILE].iter().any(|name| folder.join(name).exists());
    match is_sweep {
        true => Err(Failure::Input(format!("{} holds a sweep; name another folder", folder.display()))),
        false => Ok(()),
    }
}

/// Removes the series of an earlier run from its folder; what this run writes there as a trace stays.
fn remove_series(folder: &Path, traces: &[PathBuf]) -> Done {
    if !folder.join(SUMMARY_FILE).exists() {
        return Ok(());
    }
    for path in [SERIES_FILE, SERIES_REPORT].map(|name| folder.join(name)) {
        if path.is_file() && !traces.contains(&path) {
            std::fs::remove_file(&path)
                .map_err(|why| Failure::Input(format!("cannot remove {}: {why}", path.display())))?;
        }
    }
    Ok(())
}

fn write_files(options: &Run, outcome: &Outcome, name: &str, seed: u64) -> Done {
    for (path, text) in &outcome.reports {
        let path = match (&options.out, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path.clone(),
        };
        write_file(&path, text)?;
    }
    let Some(folder) = &options.out else { return Ok(()) };
    remove_series(folder, &options.traces)?;
    write_file(&folder.join(SUMMARY_FILE), outcome.figures.json() + "\n")?;
    if let Some(series) = &outcome.series {
        let mut bytes = Vec::new();
        series.write_parquet(&mut bytes)?;
        write_file(&folder.join(SERIES_FILE), bytes)?;
        if let Some(report) = lightlag_lab::report::of_series(series, name, seed) {
            write_file(&folder.join(SERIES_REPORT), report.html())?;
        }
    }
    Ok(())
}

fn table(outcome: &Outcome) -> String {
    let rows = outcome.figures.rows();
    let width = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    let totals: String =
        rows.iter().map(|(name, value)| format!("{name:width$}  {}\n", number(*value))).collect();
    outcome.figures.kinds().map(parts_table).fold(totals, |text, table| text + &table)
}

/// One line a flow, a consumer or a node.
fn parts_table(parts: &[Part]) -> String {
    let Some(first) = parts.first() else { return String::new() };
    let names = first.numbers.iter().map(|row| row.0);
    // "flows" in JSON, a "flow" in a column.
    let kind = first.kind.trim_end_matches('s');
    let head: Vec<String> = [kind].into_iter().chain(names).map(str::to_owned).collect();
    let line = |part: &Part| {
        let told = part.numbers.iter().map(|row| number(row.1.into()));
        [part.name.clone()].into_iter().chain(told).collect()
    };
    let lines: Vec<Vec<String>> = parts.iter().map(line).collect();
    format!("\n{}", table_text(&head, &lines))
}
