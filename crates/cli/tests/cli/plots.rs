//! `lightlag plot`: one figure of a sweep or a run.

use crate::lightlag::running::link_of;
use crate::lightlag::{Place, WALKERS, repository};
use serde_json::Value;

fn specification(place: &Place, words: &[&str]) -> Value {
    place.good(&[&["plot"], words, &["--out", "f.vl.json"]].concat());
    serde_json::from_slice(&place.read("f.vl.json")).expect("it is JSON")
}

fn swept() -> Place {
    let place = Place::new();
    place.write("s.toml", WALKERS.replace("\"none\"", "[\"none\", \"credit\"]"));
    place.good(&["sweep", "s.toml", "--set", "buffer=[\"300 kB\", \"500 kB\"]", "--out", "done"]);
    place
}

#[test]
fn a_metric_of_a_sweep_is_drawn_over_its_axes() {
    let place = swept();
    let made = specification(&place, &["done", "--metric", "delivery_prob"]);
    let values = made["data"]["values"].as_array().expect("marks");
    assert_eq!(values.len(), 4, "{made}");
    assert!(values.iter().all(|value| value["low"].is_number()), "two seeds have an interval: {made}");
    assert_eq!((&values[0]["series"], &values[0]["x"]), (&"none".into(), &300.0.into()));
    let turned = specification(
        &place,
        &["done", "--metric", "dropped", "--x", "mechanism", "--series", "buffer", "--title", "Drops"],
    );
    assert_eq!(turned["title"], "Drops");
    assert_eq!(turned["data"]["values"][0]["series"], "300 kB");
    let html = place.good(&["plot", "done", "--metric", "created", "--out", "figures/f.html"]);
    assert_eq!(html, "figures/f.html\n");
    assert!(
        String::from_utf8_lossy(&place.read("figures/f.html")).contains("vega"),
        "it works without a network"
    );
}

#[test]
fn the_series_of_a_run_is_drawn_over_time() {
    let place = Place::new();
    place.write("link.toml", format!("sample_every = \"1 s\"\n{}", link_of("1 Mbit/s", "")));
    place.good(&["run", "link.toml", "--out", "one"]);
    let made = specification(&place, &["one", "--metric", "window"]);
    assert_eq!(made["encoding"]["x"]["title"], "time (s)");
    assert!(made["data"]["values"].as_array().is_some_and(|values| values.len() > 10), "{made}");
    place.write("s.toml", format!("{WALKERS}\n[world]\nsample_every = \"1 min\"\n"));
    place.good(&["run", "s.toml", "--out", "two"]);
    let made = specification(&place, &["two", "--metric", "buffer_fill"]);
    assert!(made.to_string().contains("node 3"), "{made}");
}

#[test]
fn what_cannot_be_drawn_is_refused_with_what_can() {
    let place = swept();
    place.good(&["run", "s.toml", "--out", "plain"]);
    for (words, right) in [
        (
            &["done", "--metric", "speed", "--out", "f.html"][..],
            "the sweep has no metric `speed`; it has sim_time, created, ",
        ),
        (
            &["done", "--metric", "created", "--x", "router", "--out", "f.html"],
            "--x: the sweep does not vary `router`; it varies",
        ),
        (
            &["done", "--metric", "created", "--out", "f.gif"],
            "name a file that ends in one of .svg, .pdf, .png, .html, .vl.json",
        ),
        (
            &["plain", "--metric", "created", "--out", "f.html"],
            "or of `run --out` of a scenario with `sample_every` (of bundles: `world.sample_every`)",
        ),
    ] {
        let line = place.refused(&[&["plot"], words].concat());
        assert!(line.contains(right), "{line}");
    }
}

#[test]
fn a_picture_is_drawn_where_its_library_is_and_otherwise_the_line_says_how_to_get_it() {
    let place = swept();
    let words = ["plot", "done", "--metric", "created", "--out", "f.svg"];
    let done = place.command(&words).env("PATH", place.path("nothing")).output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("`pip install vl-convert-python`") && said.lines().count() == 1, "{said}");
    let python = repository(".venv/bin");
    if !python.join("python3").exists() {
        return crate::skip::skip("there is no .venv with vl-convert");
    }
    for file in ["f.svg", "f.png", "f.pdf"] {
        let words = ["plot", "done", "--metric", "created", "--out", file];
        let done = place.command(&words).env("PATH", &python).output().expect("it starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let bytes = place.read(file);
        let head: &[u8] = match file {
            "f.svg" => b"<svg",
            "f.png" => b"\x89PNG",
            _ => b"%PDF-",
        };
        assert!(bytes.starts_with(head), "{file}");
    }
}

#[test]
fn a_figure_has_the_size_and_the_titles_that_are_asked_for() {
    let place = swept();
    let words = ["done", "--metric", "delivery_prob", "--width", "300", "--height", "200"];
    let titles = ["--title", "Delivery", "--x-title", "buffer of a node", "--y-title", "share"];
    let made = specification(&place, &[&words[..], &titles].concat());
    assert_eq!(
        (&made["width"], &made["height"], &made["title"]),
        (&300.into(), &200.into(), &"Delivery".into())
    );
    for layer in made["layer"].as_array().expect("layers") {
        let encoding = &layer["encoding"];
        assert_eq!(
            (&encoding["x"]["title"], &encoding["y"]["title"]),
            (&"buffer of a node (kB)".into(), &"share".into())
        );
    }
    let line = place.refused(&["plot", "done", "--metric", "created", "--out", "f.svg", "--width", "0"]);
    assert_eq!(line, "--width: `0` is not a size in pixels; write a whole number from 1 to 10000");
}

#[test]
fn mechanisms_beside_each_other_have_no_legend_and_the_baseline_is_grey() {
    let place = Place::new();
    place.write("s.toml", WALKERS.replace("\"none\"", "[\"none\", \"credit\"]"));
    place.good(&["sweep", "s.toml", "--out", "done"]);
    let made = specification(&place, &["done", "--metric", "delivery_prob", "--x", "mechanism"]);
    let colour = &made["layer"][0]["encoding"]["color"];
    assert_eq!(colour["legend"], Value::Null);
    assert!(colour.as_object().is_some_and(|colour| colour.contains_key("legend")), "{colour}");
    assert_eq!(colour["scale"]["domain"], serde_json::json!(["none", "all"]));
    assert_eq!(colour["scale"]["range"][0], "#7A7A7A");
}

#[test]
fn what_can_be_drawn_is_listed_where_no_metric_is_named() {
    let place = swept();
    let list = place.good(&["plot", "done"]);
    for name in ["axes (--x, --series)", "  mechanism", "  buffer", "metrics (--metric)", "  delivery_prob"] {
        assert!(list.lines().any(|line| line == name), "{name}\n{list}");
    }
    place.write("link.toml", format!("sample_every = \"1 s\"\n{}", link_of("1 Mbit/s", "")));
    place.good(&["run", "link.toml", "--out", "one"]);
    assert!(place.good(&["plot", "one"]).lines().any(|line| line == "  window"));
    let help = place.good(&["plot", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("without --metric and --out, they are listed"), "{help}");
}

#[test]
fn an_axis_may_be_named_by_the_end_of_its_name() {
    let place = Place::new();
    let text = WALKERS
        .replace("\"none\"", "[\"none\", \"credit\"]")
        .replace("[nodes.n]", "[nodes.n]\nbuffer = [\"300 kB\", \"500 kB\"]");
    place.write("s.toml", &text);
    place.good(&["sweep", "s.toml", "--out", "done"]);
    let whole = place.good(&["compare", "done", "--by", "nodes.n.buffer"]);
    assert!(whole.contains("nodes.n.buffer=300 kB"), "{whole}");
    assert_eq!(place.good(&["compare", "done", "--by", "buffer"]), whole);
    let made = specification(&place, &["done", "--metric", "created", "--x", "buffer"]);
    assert_eq!(made["data"]["values"][0]["x"], 300.0);
    let other = text.clone() + "\n[nodes.m]\nbuffer = [\"1 MB\", \"2 MB\"]\n";
    place.write("t.toml", other);
    place.good(&["sweep", "t.toml", "--seeds", "1", "--out", "two"]);
    let line = place.refused(&["compare", "two", "--by", "buffer"]);
    assert_eq!(line, "two: `buffer` is ambiguous; name one of nodes.n.buffer, nodes.m.buffer");
    let line = place.refused(&["plot", "two", "--metric", "created", "--x", "buffer", "--out", "f.html"]);
    assert!(line.starts_with("--x: `buffer` is ambiguous; name one of "), "{line}");
}

#[test]
fn curves_have_a_legend_with_a_mark_for_each_and_the_baseline_is_dashed() {
    let python = repository(".venv/bin");
    if !python.join("python3").exists() {
        return crate::skip::skip("there is no .venv with vl-convert");
    }
    let place = swept();
    let words = ["plot", "done", "--metric", "delivery_prob", "--out", "f.svg"];
    let done = place.command(&words).env("PATH", &python).output().expect("it starts");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let drawn = String::from_utf8(place.read("f.svg")).expect("SVG is text");
    assert!(drawn.contains("role-legend") && drawn.contains(">credit<"), "the legend is missing");
    assert!(drawn.contains("stroke-dasharray=\"5,4\""), "the baseline is not dashed");
    assert!(!drawn.contains("stroke-dasharray=\"1,0\""), "curves without dashes are solid in every viewer");
}
