//! `[reports.NAME]`: The ONE's report files.

use super::named;
use super::section::Section;
use crate::error::{Result, quoted};
use crate::keys;
use crate::model::Report;
use crate::quantity::{positive_time, time};
use crate::the_one::{PRECISION, REPORTS, ReportClass, inside};
use std::path::PathBuf;

pub fn reports(root: &Section) -> Result<Vec<Report>> {
    named(root, "reports", keys::REPORT)?.into_iter().map(|(name, section)| report(&name, &section)).collect()
}

fn report(name: &str, section: &Section) -> Result<Report> {
    let words: Vec<_> = REPORTS.iter().map(|class| (class.name, class)).collect();
    let class = section.word("class", &words)?;
    let class = class.ok_or_else(|| section.missing("class", "\"MessageStatsReport\""))?;
    let output = section.text("file")?.map_or_else(|| format!("{name}.txt"), str::to_owned);
    if !inside(&output) {
        let what = format!("{} leads out of the folder of the run", quoted(&output));
        return section.refuse("file", what, "name a file below it, like \"reports/stats.txt\"");
    }
    let mut settings = others(section, class)?;
    for key in ["granularity", "interval"] {
        let Some(span) = section.quantity(key, positive_time)? else { continue };
        let Some(setting) = class.settings.iter().find(|known| key_of(known) == key) else {
            let what = format!("`{}` is not a key of {}", section.key(key), class.name);
            return section.refuse(key, what, "leave it out");
        };
        settings.push(((*setting).to_owned(), span.as_secs_f64().to_string()));
    }
    let precision = section.whole("precision", 0, 100)?.unwrap_or(i64::from(PRECISION));
    Ok(Report {
        class: class.name.to_owned(),
        place: section.place.clone(),
        output: PathBuf::from(output),
        warmup: section.quantity("warmup", time)?.unwrap_or_default(),
        precision: u32::try_from(precision).unwrap_or_default(),
        settings,
    })
}

/// Settings that are no lengths of time.
fn others(section: &Section, class: &ReportClass) -> Result<Vec<(String, String)>> {
    let mut settings = Vec::new();
    for (key, setting) in [("bundles", "messages"), ("nodes", "nodes"), ("count", "nrofHosts")] {
        let given = match key {
            "count" => section.whole(key, 0, i64::from(i32::MAX))?.map(|count| count.to_string()),
            _ => section.text(key)?.map(str::to_owned),
        };
        let Some(given) = given else { continue };
        if !class.settings.contains(&setting) {
            let what = format!("`{}` is not a key of {}", section.key(key), class.name);
            return section.refuse(key, what, "leave it out");
        }
        if key == "nodes" && given.split(',').any(|node| node.trim().parse::<u32>().is_err()) {
            return section.refuse(
                key,
                format!("{} are not numbers", quoted(&given)),
                "write them like \"0, 3\"",
            );
        }
        settings.push((setting.to_owned(), given));
    }
    Ok(settings)
}

/// The key of a setting of The ONE.
pub fn key_of(setting: &str) -> &'static str {
    match setting {
        "granularity" => "granularity",
        "messages" => "bundles",
        "nodes" => "nodes",
        "nrofHosts" => "count",
        _ => "interval",
    }
}
