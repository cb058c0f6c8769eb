//! One HTML file that shows a whole study and works without a network.

mod answer;
mod cite;
mod claim;
mod compared;
mod front;
mod of_series;
mod of_sweep;
mod parts;

pub(crate) use answer::RANKED;
pub use claim::{Finding, Holds, Verdict};
pub use compared::{Compared, Met};
pub use front::{Colours, Front, HeatMap, Measure};

use crate::results::Build;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;

pub use of_series::of_series;
pub use of_sweep::of_sweep;
pub(crate) use of_sweep::{Axes, Drawn, figure as sweep_figure};

const TEMPLATE: &str = include_str!("report.html");
const CHART: &str = include_str!("chart.html");
const STYLE: &str = include_str!("report.css");
const OWN: &str = include_str!("report.js");
const SCRIPTS: [&str; 3] = [
    include_str!("../../assets/vega.min.js"),
    include_str!("../../assets/vega-lite.min.js"),
    include_str!("../../assets/vega-embed.min.js"),
];
const LICENCES: &str = include_str!("../../assets/LICENCES.txt");

/// A figure with its caption.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Short name, unique in the report: `figure_3`.
    pub id: String,
    /// Heading.
    pub title: String,
    /// What to see in it, and under which settings.
    pub caption: String,
    /// The Vega-Lite specification, data included.
    pub specification: serde_json::Value,
}

/// A table of text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// What to see in it.
    pub caption: String,
    /// Heads of the columns.
    pub head: Vec<String>,
    /// Rows; the cells of the first columns name them, numbers stand right.
    pub rows: Vec<Vec<String>>,
}

/// A page beside the report that shows runs of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct View {
    /// Its file name.
    pub file: String,
    /// Which runs.
    pub title: String,
    /// What to see in them.
    pub caption: String,
}

/// A scenario as it was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScenarioText {
    /// Its file.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Everything that a report says; by default nothing, made by this program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Heading.
    pub title: String,
    /// The first screen.
    pub front: Front,
    /// Pages beside the report that show runs of it.
    pub pages: Vec<View>,
    /// What is run: a few sentences each.
    pub introduction: Vec<String>,
    /// What the reader must know before believing it, such as that it is a quick look.
    pub warnings: Vec<String>,
    /// Which program made it.
    pub build: Build,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// How many runs it rests on.
    pub runs: usize,
    /// What to type to do it again.
    pub again: Vec<String>,
    /// What to cite beside this program, in BibTeX.
    pub cites: Vec<String>,
    /// What a paper says beside what was measured.
    pub claims: Vec<Verdict>,
    /// Tables before all others.
    pub opening: Vec<Table>,
    /// Figures.
    pub figures: Vec<Figure>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Scenarios.
    pub scenarios: Vec<ScenarioText>,
}

impl Report {
    /// The HTML file.
    ///
    /// # Panics
    /// If the template that is compiled in is broken.
    pub fn html(&self) -> String {
        rendered(TEMPLATE, self.context())
    }

    fn context(&self) -> Value {
        let tables = parts::tables(&self.opening, &self.tables);
        let (opening, tables) = tables.split_at(self.opening.len());
        context! {
            title => self.title,
            answer => self.front.answer,
            measures => self.measures(),
            map => self.front.map.as_ref().map(HeatMap::context),
            pages => self.pages,
            introduction => self.introduction,
            warnings => self.warnings,
            build => self.build,
            seeds => spans(&self.seeds),
            runs => self.runs,
            again => self.again,
            cites => self.cites(),
            claims => self.claims.iter().map(|claim| parts::claim(claim, self)).collect::<Vec<_>>(),
            tally => parts::tally(&self.claims),
            readings => self.claims.iter().any(|claim| !claim.readings.is_empty()),
            opening,
            figures => parts::figures(&self.figures),
            tables,
            scenarios => self.scenarios,
            style => Value::from_safe_string(STYLE.to_string()),
            scripts => scripts(),
            own => Value::from_safe_string(inline_script(OWN)),
            specifications => Value::from_safe_string(self.specifications()),
            licences => LICENCES,
        }
    }

    /// The headline measures, and how many claims hold.
    fn measures(&self) -> Vec<Value> {
        let tested = self.claims.iter().filter(|claim| claim.holds.reason().is_empty()).count();
        let hold = self.claims.iter().filter(|claim| claim.holds == Holds::Yes).count();
        let partly = self.claims.iter().filter(|claim| claim.holds == Holds::Partly).count();
        let untestable = match self.claims.len() - tested {
            0 => String::new(),
            some => format!(", {some} untestable"),
        };
        let claims = (tested > 0).then(|| {
            Measure::count(
                "claims that hold",
                hold,
                tested,
                format!("{partly} partly, {} not{untestable}", tested - hold - partly),
            )
        });
        self.front.measures.iter().chain(&claims).map(Measure::context).collect()
    }

    /// BibTeX entries of this program and of what is repeated.
    fn cites(&self) -> Vec<String> {
        std::iter::once(cite::program(&self.build)).chain(self.cites.iter().cloned()).collect()
    }

    fn specifications(&self) -> String {
        let drawn = |figure: &Figure| {
            let mut specification = figure.specification.clone();
            // The heading stands above it.
            specification.as_object_mut().and_then(|parts| parts.remove("title"));
            (figure.id.clone(), specification)
        };
        let all: serde_json::Map<String, serde_json::Value> = self.figures.iter().map(drawn).collect();
        inline_json(&serde_json::Value::Object(all))
    }
}

/// An HTML file with one chart of Vega-Lite, which works without a network.
///
/// # Panics
/// If the template that is compiled in is broken.
pub fn chart(title: &str, specification: &serde_json::Value) -> String {
    let given = context! {
        title => title,
        specification => Value::from_safe_string(inline_json(specification)),
        scripts => scripts(),
        licences => LICENCES,
    };
    rendered(CHART, given)
}

fn rendered(template: &str, given: Value) -> String {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let page = environment.template_from_str(template).and_then(|template| template.render(given));
    page.expect("the template is valid and asks for nothing else")
}

fn scripts() -> [Value; 3] {
    SCRIPTS.map(|script| Value::from_safe_string(inline_script(script)))
}

/// A script between `<script>` tags must not contain the end of one.
fn inline_script(script: &str) -> String {
    script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
}

/// In JSON a `<` only stands inside strings, where it may be written as an escape.
fn inline_json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// "1–5, 9" for 1, 2, 3, 4, 5, 9.
fn spans(seeds: &[u64]) -> String {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for seed in seeds {
        match spans.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(*seed) => last.1 = *seed,
            _ => spans.push((*seed, *seed)),
        }
    }
    let told: Vec<String> = spans
        .into_iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}–{last}") })
        .collect();
    told.join(", ")
}

#[cfg(test)]
mod in_chromium;
#[cfg(test)]
mod tests;
