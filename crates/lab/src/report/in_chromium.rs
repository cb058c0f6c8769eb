//! Reports as readers have them: in a browser, on screens of several widths, by day and by night.

use super::*;
use crate::results::{Results, Row};
use serde_json::{Value as Json, json};
use std::process::Command;
use std::sync::LazyLock;

const CHECKS: &str = include_str!("checks.js");

/// A sweep over two axes, with claims and a table whose rows are in no order.
fn report() -> Report {
    let mechanisms = ["none", "credit", "storage_routing", "copy_value"];
    let routers = ["epidemic", "spray_and_wait", "prophet"];
    let row = |point: usize, seed: u64| {
        let (mechanism, router) = (mechanisms[point % 4], routers[point / 4]);
        let ratio = 0.2 + 0.05 * point as f64 + 0.01 * seed as f64;
        let values = [("mechanism", mechanism), ("router", router)];
        let metrics = vec![
            ("delivery_prob".into(), ratio),
            ("latency_avg".into(), 900.0 * ratio),
            ("created".into(), 100.0),
        ];
        Row {
            point,
            seed,
            values: values.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            metrics,
        }
    };
    let rows = (0..12).flat_map(|point| (1..=3).map(move |seed| row(point, seed))).collect();
    let results = Results { build: Build::this(), scenario: String::new(), rows, missing: 0 };
    let finding = |holds, label: &str| {
        let dot = Compared::at_least(label, 9.3, 9.0, "Mbit/s").with_interval(Some((9.1, 9.5)));
        Finding::new(holds, "9.3 Mbit/s")
            .of_parts(1, 2)
            .comparing(vec![dot.clone(), Compared::at_most("lost", 14.0, 0.0, "Mbit/s")])
    };
    let shown = |verdict: Verdict| Verdict { shown: Some("delivery_prob".into()), ..verdict };
    let claims = vec![
        shown(Verdict::new("C1", "3", "it rises with the size of the buffer", finding(Holds::Yes, "credit"))),
        shown(Verdict::new(
            "C2",
            "text",
            "both rise",
            finding(Holds::Partly, "a label with more words than one line of the dot plot can show"),
        )),
        Verdict::new("C3", "-", "nothing falls", Finding::untestable("nothing was run")),
    ];
    let rows = [["b", "10 ± 2", "x, y"], ["c", "-", "q\"r"], ["a", "9.5 (9 to 11)", "z"], ["d", "-3", ""]];
    let opening = Table {
        title: "Rows in no order".into(),
        caption: "What to see.".into(),
        head: ["name", "goodput (Mbit/s)", "where"].map(str::to_owned).to_vec(),
        rows: rows.map(|row| row.map(str::to_owned).to_vec()).to_vec(),
    };
    Report { claims, opening: vec![opening], ..of_sweep(&results) }
}

/// Opens the report in a frame of this width and gives what the checks found; `None` without a browser.
fn opened(width: u32, dark: bool) -> Option<Json> {
    if !crate::skip::has("chromium") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("host.html");
    std::fs::write(folder.path().join("report.html"), report().html()).unwrap();
    let host = format!(
        "<!doctype html><iframe id=\"report\" src=\"report.html\" style=\"width:{width}px;height:800px;border:0\"></iframe>\
         <pre id=\"said\"></pre><script>{CHECKS}</script>"
    );
    std::fs::write(&path, host).unwrap();
    let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
    let flags = [
        "--headless",
        "--no-sandbox",
        "--allow-file-access-from-files",
        "--virtual-time-budget=120000",
        "--dump-dom",
    ];
    let mut command = Command::new("chromium");
    let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
    let done = command
        .args(flags)
        .args([&scheme, &profile])
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let page = String::from_utf8_lossy(&done.stdout).into_owned();
    let said = page
        .split_once("<pre id=\"said\">")
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .map(|(said, _)| said);
    let text = said.unwrap_or_default().replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    let made: Json = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
    assert_eq!(made.get("failed"), None, "{made}");
    Some(made)
}

/// The same on a laptop by day, once for all tests.
static LAPTOP: LazyLock<Option<Json>> = LazyLock::new(|| opened(1280, false));

#[test]
fn the_first_screen_of_a_laptop_has_the_answer_the_tiles_and_a_map() {
    let Some(made) = &*LAPTOP else { return };
    let count = |name: &str| made[name].as_u64().unwrap();
    assert!((2..=3).contains(&count("answers")) && count("tiles") >= 3 && count("maps") == 1, "{made}");
    assert!(made["front_ends"].as_f64().unwrap() <= 800.0, "{made}");
    assert_eq!((count("beside"), &made["too_wide"]), (2, &json!(0)), "two figures beside each other: {made}");
    assert_eq!(
        (&made["raw"], &made["unnamed"], &made["links"]),
        (&json!(""), &json!(0), &json!([])),
        "{made}"
    );
}

#[test]
fn claims_are_filtered_by_their_verdict_and_tables_are_sorted_and_copied() {
    let Some(made) = &*LAPTOP else { return };
    assert_eq!(
        (&made["filtered"], &made["pressed"], &made["unfiltered"]),
        (&json!(["C2"]), &json!(["partly"]), &json!(3))
    );
    assert_eq!(made["before"], json!(["b", "c", "a", "d"]));
    assert_eq!(made["ascending"], json!([["d", "a", "b", "c"], "ascending"]), "an empty cell is the last");
    assert_eq!(made["descending"], json!([["b", "a", "d", "c"], "descending"]));
    let csv = "name,goodput (Mbit/s),\"goodput (Mbit/s), interval\",where\nb,10,± 2,\"x, y\"\na,9.5,(9 to 11),z\nd,-3,,\nc,-,,\"q\"\"r\"\n";
    assert_eq!(made["csv"], json!(csv), "in the order that is shown");
}

#[test]
fn nothing_is_wider_than_a_phone_and_figures_use_a_wide_screen() {
    let Some(phone) = opened(400, false) else { return };
    let [wide, figures] = ["too_wide", "figures_too_wide"].map(|name| phone[name].as_i64().unwrap());
    assert_eq!((wide, figures), (0, 0), "{phone}");
    assert!(phone["figures"].as_u64().unwrap() >= 2 && phone["beside"] == 1, "{phone}");
    let Some(desk) = opened(2000, false) else { return };
    assert_eq!((&desk["too_wide"], &desk["beside"]), (&json!(0), &json!(2)), "{desk}");
}

#[test]
fn every_text_stands_out_by_day_and_by_night() {
    let night = LazyLock::<_, fn() -> _>::new(|| opened(1280, true));
    for (dark, made) in [(false, &LAPTOP), (true, &night)] {
        let Some(made) = &**made else { return };
        assert_eq!((&made["dark"], &made["faint"]), (&json!(dark), &json!([])), "dark: {dark}");
    }
}
