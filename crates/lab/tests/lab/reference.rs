//! The pages of the reference that are made from declarations in the code. `UPDATE_DOCS=1` writes them again.

use lightlag_judge::trace::{Column, Columns, NameRow, PacketRow, Row};
use lightlag_lab::metrics::{BUNDLES, Figures, Metric};
use lightlag_lab::names::{CONSUMERS, NAMES, NODES};
use lightlag_lab::packets::seconds::SecondRow;
use lightlag_lab::packets::{FLOWS, PACKETS};
use lightlag_lab::results;
use lightlag_lab::run::{ContactsCache, Options, Outcome, run};
use lightlag_lab::series::{self, FlowRow, NodeRow, Sampled};
use lightlag_scenario::keys::{self, Key, Kind};
use lightlag_scenario::{Catalogue, ScenarioFile, Seed};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const MADE: &str =
    "<!-- Made from the code: UPDATE_DOCS=1 cargo test --workspace --test lab reference -->\n\n";

/// The page in the documentation is this text.
fn is_current(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == text,
        "docs/reference/{name} is stale: UPDATE_DOCS=1 cargo test --workspace --test lab reference"
    );
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

fn columns(title: &str, about: &str, columns: &[Column]) -> String {
    let mut text = format!("## {title}\n\n{about}\n\n| column | type | meaning |\n|---|---|---|\n");
    for column in columns {
        writeln!(text, "| `{}` | {} | {} |", column.name, column.kind.name(), cell(column.about)).unwrap();
    }
    text + "\n"
}

#[test]
fn the_page_of_traces_lists_every_column() {
    let text = [
        "# Columns of traces\n\n",
        MADE,
        "`lightlag run SCENARIO --trace FILE` writes one row per record: a Parquet table where the name ends in `.parquet`, \
         lines of JSON where it ends in `.jsonl`. The keys of a line are the columns; a column without a value is \
         omitted. Rows are in the order of time; only the row of a packet that is lost on a link (`dropped`, `lost`) can stand \
         before earlier ones. `time_ns` counts nanoseconds from the start of the run. Numbers of nodes, links, flows, consumers and producers count from 0 in the order of the scenario.\n\n\
         ```sh\nlightlag run scenarios/helsinki.toml --trace out/trace.jsonl\nhead -3 out/trace.jsonl\n```\n\n",
        &columns("Bundles", "A scenario with nodes, contacts and traffic.", Row::COLUMNS),
        &columns("Packets", "A scenario with links and flows.", PacketRow::COLUMNS),
        &columns("Named data", "A scenario with producers and consumers.", NameRow::COLUMNS),
    ]
    .concat();
    is_current("traces.md", &(text.trim_end().to_owned() + "\n"));
}

fn sampled(of: &str, numbers: &[Sampled]) -> String {
    let mut text = format!("| `name`, of each {of} | unit | meaning |\n|---|---|---|\n");
    for number in numbers {
        writeln!(text, "| `{}` | {} | {} |", number.name, number.unit, cell(number.about)).unwrap();
    }
    text + "\n"
}

#[test]
fn the_page_of_results_lists_every_column() {
    let text = [
        "# Columns of results and series\n\n",
        MADE,
        "Tables in Parquet, as `lightlag sweep`, `run` and `emulate` write them. Traces have [a page of their own](traces.md).\n\n\
         ```sh\nlightlag run scenarios/papers/arc_link.toml --set file_size=\"10 MB\" --set sample_every=\"10 s\" --out out/arc\n\
         python3 -c 'import polars; print(polars.read_parquet(\"out/arc/series.parquet\"))'\n```\n\n",
        &columns(
            "Results of a sweep",
            "`lightlag sweep SCENARIO --out DIR` writes `DIR/results.parquet`, a row per run in the order of points and \
             seeds. After `seed` there is a column for each key that the sweep varies, named by its path: numbers if all its \
             values are plain numbers, else text. After `commit` there is a column for each [metric](metrics.md), then \
             `violations`; a metric without a value is empty. The text of the scenario is in the metadata of the file, as \
             `lightlag.scenario`.",
            &results::COLUMNS,
        ),
        &columns(
            "Series of bundles",
            "`lightlag run SCENARIO --out DIR` writes `DIR/series.parquet` if the scenario has `world.sample_every`: a row \
             for each time, node and name. Routers and mechanisms add numbers of their own, which their pages explain.",
            NodeRow::COLUMNS,
        ),
        &sampled("node", &series::NODES),
        &columns(
            "Series of packets and of named data",
            "The same if the scenario has `sample_every`: a row for each time, flow (consumer of named data) or link, and \
             name. Controllers add numbers of their own, which their pages explain. `series.html` draws goodput, window, \
             rate, data in flight, round-trip time and queues.",
            FlowRow::COLUMNS,
        ),
        &sampled("flow or consumer", &series::FLOWS),
        &sampled("direction of a link", &series::LINKS),
        &columns(
            "Seconds of an emulated link",
            "`lightlag emulate --table FILE` writes a row for each second and direction in which packets came to the \
             link: Parquet, or CSV where the name ends in `.csv`.",
            SecondRow::COLUMNS,
        ),
    ]
    .concat();
    is_current("results.md", &(text.trim_end().to_owned() + "\n"));
}

fn metrics<M>(title: &str, about: &str, metrics: &[Metric<M>]) -> String {
    let mut text = format!("## {title}\n\n{about}\n\n| metric | meaning |\n|---|---|\n");
    for metric in metrics {
        writeln!(text, "| `{}` | {} |", metric.name, cell(metric.about)).unwrap();
    }
    text + "\n"
}

#[test]
fn the_page_of_metrics_lists_every_metric() {
    let text = [
        "# Metrics\n\n",
        MADE,
        "`lightlag run` prints these figures, `--json` prints them as JSON, and the results of `lightlag sweep` have a \
         column for each. Times are in seconds. A figure without a value is `null` in JSON and empty in tables.\n\n",
        &metrics(
            "Bundles",
            "The first nineteen are those of The ONE's `MessageStatsReport`, in its order and by its formulas.",
            BUNDLES,
        ),
        &metrics("Packets", "All flows of a run together.", PACKETS),
        &metrics("Packets: each flow", "In JSON below `flows.NAME`.", FLOWS),
        &metrics("Named data", "All consumers of a run together.", NAMES),
        &metrics("Named data: each consumer", "In JSON below `consumers.NAME`.", CONSUMERS),
        &metrics("Named data: each node", "In JSON below `nodes.NAME`.", NODES),
        "## Every world\n\nResults of sweeps also have `violations`: what the judge found to be impossible in the run, 0 \
         in a sound one.\n",
    ]
    .concat();
    is_current("metrics.md", &text);
}

/// The tables that a list of keys leads to, each once, with the path of the first.
fn tables(path: &str, keys: &'static [Key], found: &mut Vec<(String, &'static [Key])>) {
    if found.iter().any(|known| std::ptr::eq(known.1, keys)) {
        return;
    }
    found.push((path.to_owned(), keys));
    for key in keys {
        let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        inner(&path, key.kind, found);
    }
}

fn inner(path: &str, kind: Kind, found: &mut Vec<(String, &'static [Key])>) {
    match kind {
        Kind::Table(keys) => tables(path, keys, found),
        Kind::Named(keys) => tables(&format!("{path}.NAME"), keys, found),
        Kind::List(kind) => inner(path, *kind, found),
        Kind::Any(kinds) => kinds.iter().for_each(|kind| inner(path, *kind, found)),
        Kind::Model(models) => {
            (models.rows)()
                .iter()
                .filter(|row| !row.keys.is_empty())
                .for_each(|row| tables(path, row.keys, found));
        }
        _ => {}
    }
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Whole(low, i64::MAX) => format!("whole number from {low}"),
        Kind::Whole(low, high) => format!("whole number from {low} to {high}"),
        Kind::Real(low, high) => format!("number from {low} to {high}"),
        Kind::Quantity(quantity) => format!("quantity, like `\"{}\"`", quantity.example),
        Kind::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Kind::Algorithm(kind) => format!("a {kind}"),
        Kind::Model(models) => format!("table with a `{}`: a {}", models.key, models.kind),
        Kind::Table(_) | Kind::Open => "table".to_owned(),
        Kind::Named(_) => "tables by name".to_owned(),
        Kind::List(of) => format!("list: {}", self::kind(*of)),
        Kind::Any(kinds) => kinds.iter().map(|one| self::kind(*one)).collect::<Vec<_>>().join(", or "),
    }
}

#[test]
fn the_page_of_scenarios_lists_every_key() {
    let mut text = [
        "# Keys of scenarios\n\n",
        MADE,
        "Every key of a scenario in TOML. An unknown key is an error. Every value may also be a list, which is an axis of \
         a sweep, or `\"$name\"`, which stands for a value of `[parameters]`. `lightlag schema` prints the same as a \
         JSON Schema. Editors with a TOML language server complete keys with it:\n\n\
         ```sh\nlightlag schema > scenario.schema.json\n```\n\n\
         and, as the first line of a scenario:\n\n\
         ```toml\n#:schema ./scenario.schema.json\n```\n\n",
    ]
    .concat();
    for (world, keys) in [("Bundles", keys::BUNDLES), ("Packets", keys::PACKETS), ("Named data", keys::NAMES)]
    {
        let mut found = Vec::new();
        tables("", keys, &mut found);
        writeln!(text, "## {world}\n").unwrap();
        for (path, keys) in found {
            let title =
                if path.is_empty() { "The top of the file".to_owned() } else { format!("`[{path}]`") };
            writeln!(text, "### {title}\n\n| key | value | meaning |\n|---|---|---|").unwrap();
            for key in keys {
                writeln!(text, "| `{}` | {} | {} |", key.name, cell(&kind(key.kind)), cell(key.about))
                    .unwrap();
            }
            text.push('\n');
        }
    }
    is_current("scenarios.md", &(text.trim_end().to_owned() + "\n"));
}

fn outcome(text: &str, series: bool) -> Outcome {
    let file = ScenarioFile::from_toml("s.toml", text, ".".into(), Catalogue::default().into()).unwrap();
    let scenario = file.points().unwrap().list.remove(0).scenario;
    let options = Options { series, ..Options::default() };
    run(&scenario, Seed::Number(1), &ContactsCache::default(), &options).unwrap()
}

const BUNDLE: &str = "duration = \"1 min\"\nrouter = \"direct\"\nbuffer = \"1 MB\"\n[nodes.a]\n[nodes.b]\n[contacts.c]\nrate = \"1 Mbit/s\"\n\
     rows = [{ a = \"a\", b = \"b\", start = \"1 s\", end = \"9 s\" }]\n[traffic.t]\ninterval = \"1..2 s\"\nsize = \"1 kB\"\n";
const LINK: &str =
    "duration = \"10 s\"\n[links.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n";

#[test]
fn every_number_of_a_series_is_in_the_reference() {
    let names = |text: &str| {
        let series = outcome(text, true).series.unwrap();
        series.rows().iter().map(|row| row.name).collect::<BTreeSet<_>>()
    };
    let known = |numbers: &[&[Sampled]]| numbers.concat().iter().map(|one| one.name).collect::<BTreeSet<_>>();
    let of_nodes = names(&format!("{BUNDLE}[world]\nsample_every = \"1 s\"\n"));
    assert!(
        of_nodes.contains("buffer_fill") && of_nodes.is_subset(&known(&[&series::NODES])),
        "{of_nodes:?}"
    );
    let sampled = LINK.replacen('\n', "\nsample_every = \"1 s\"\n", 1);
    let flow = |transport: &str, controller: &str| {
        format!(
            "[flows.{transport}{}]\nfrom = \"a\"\nto = \"b\"\ntransport = \"{transport}\"\nsize = \"2 MB\"\n\
             controller = {{ name = \"fixed\", {controller} }}\n",
            controller.len()
        )
    };
    let flows = ["tcp", "dccp", "udpdtn", "ltp", "ltp-dccp", "adaptive"]
        .map(|transport| flow(transport, "rate = \"9 kbit/s\""));
    let window = flow("tcp", "window = \"9 kB\"");
    assert_eq!(
        names(&(sampled.clone() + &flows.concat() + &window)),
        known(&[&series::FLOWS, &series::LINKS])
    );
    let data = "[producers.p]\nat = \"b\"\nprefix = \"/f\"\nobject = \"1 MB\"\n[consumers.c]\nat = \"a\"\nobject = \"/f\"\n\
                controller = { name = \"fixed\", window = \"20 kB\", rate = \"1 Mbit/s\" }\n";
    let of_names = names(&(sampled + data));
    assert!(of_names.contains("window") && of_names.is_subset(&known(&[&series::FLOWS, &series::LINKS])));
}

#[test]
fn every_figure_of_a_run_is_in_the_reference_in_its_order() {
    fn names<M>(metrics: &[Metric<M>]) -> Vec<&'static str> {
        metrics.iter().map(|metric| metric.name).collect()
    }
    let all = |figures: &Figures| figures.numbers.iter().map(|row| row.0).collect::<Vec<_>>();
    let part = |figures: &Figures, kind: &str| {
        let part = figures.parts.iter().find(|part| part.kind == kind).unwrap();
        part.numbers.iter().map(|row| row.0).collect::<Vec<_>>()
    };
    let figures = |text: &str| outcome(text, false).figures;
    assert_eq!(all(&figures(BUNDLE)), names(BUNDLES));
    let packets = figures(&format!(
        "{LINK}[flows.f]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"new_reno\"\nsize = \"10 kB\"\n"
    ));
    assert_eq!((all(&packets), part(&packets, "flows")), (names(PACKETS), names(FLOWS)));
    let data = figures(&format!(
        "{LINK}[producers.p]\nat = \"b\"\nprefix = \"/f\"\nobject = \"10 kB\"\n[consumers.c]\nat = \"a\"\nobject = \"/f\"\n\
         controller = {{ name = \"fixed\", window = \"20 kB\" }}\n"
    ));
    assert_eq!(all(&data), names(NAMES));
    assert_eq!((part(&data, "consumers"), part(&data, "nodes")), (names(CONSUMERS), names(NODES)));
}
