use super::*;
use serde_json::json;

fn report() -> Report {
    Report {
        title: "A <study> & more".into(),
        front: Front {
            answer: vec!["Best: credit with 0.4.".into()],
            measures: vec![Measure::new("goodput", "9.3 Mbit/s", "limit 9.67 Mbit/s").of_bound(0.96)],
            map: None,
        },
        pages: vec![View {
            file: "view.html".into(),
            title: "Two runs".into(),
            caption: "On one clock.".into(),
        }],
        introduction: vec!["First.".into()],
        warnings: vec!["Quick look: one seed.".into()],
        build: Build { version: "0.1.0".into(), commit: "abc".into() },
        seeds: vec![1, 2, 3, 7],
        runs: 12,
        again: vec!["lightlag study dtn-congestion --quick".into()],
        cites: vec!["@inproceedings{paper}".into()],
        claims: vec![
            Verdict {
                id: "C1",
                figure: "3",
                paper_says: "it rises",
                we_measure: "0.1 to 0.4".into(),
                holds: Holds::Untestable("nothing can expire".into()),
                parts: None,
                compared: vec![
                    Compared::at_least("credit", 0.4, 0.5, "Mbit/s").with_interval(Some((0.3, 0.5))),
                ],
                readings: vec![("periodic table".into(), Holds::Yes)],
                shown: None,
            },
            Verdict::new("C2", "3", "all three rise", Finding::new(Holds::Partly, "two do").of_parts(2, 3)),
        ],
        opening: vec![Table { title: "The worst".into(), ..Table::default() }],
        figures: vec![Figure {
            id: "figure_3".into(),
            title: "Figure 3".into(),
            caption: "Delivery ratio.".into(),
            specification: json!({"title": "once", "description": "</script><script>alert(1)</script>"}),
        }],
        tables: vec![Table {
            title: "Latency".into(),
            caption: String::new(),
            head: vec!["mechanism".into(), "latency (s)".into()],
            rows: vec![vec!["none".into(), "135 ± 2".into()]],
        }],
        scenarios: vec![ScenarioText { name: "figure_3.toml".into(), text: "seeds = [1]\n".into() }],
    }
}

#[test]
fn a_report_says_everything_that_it_is_given() {
    let html = report().html();
    let wanted = [
        "A &lt;study&gt; &amp; more",
        "Quick look",
        "<h3>The worst</h3>",
        "Best: credit with 0.4.",
        "limit 9.67 Mbit",
        "style=\"width:96.0%\"",
        "<span class=\"label\">credit</span>",
        "href=\"#figure_3\"",
        "src=\"view.html\"",
        "@software{lightlag,",
        "@inproceedings{paper}",
        "commit <code>abc</code>",
        "seeds 1–3, 7",
        "data-show=\"untestable\"",
        "nothing can expire",
        "holds: periodic table",
        "holds partly, 2 of 3",
        "figure_3.toml",
        "135 ± 2",
        "lightlag study dtn-congestion",
    ];
    for text in wanted {
        assert!(html.contains(text), "{text}");
    }
}

#[test]
fn a_report_asks_nothing_of_the_network() {
    let libraries = SCRIPTS.map(inline_script);
    let html = libraries.iter().fold(report().html(), |html, library| html.replace(library, ""));
    for asking in ["<script src", "<link", "<img", "@import", "url(http", "fetch("] {
        assert!(!html.contains(asking), "{asking}");
    }
}

#[test]
fn a_heading_is_not_repeated_in_its_figure() {
    let html = report().html();
    assert!(!html.contains("\"once\"") && html.contains("alert(1)"));
}

#[test]
fn nothing_in_the_data_ends_a_script() {
    let html = report().html();
    // One element of data, three libraries, one that draws.
    assert_eq!(html.matches("</script").count(), 5);
    assert_eq!(inline_script("a</script>b"), "a<\\/script>b");
}

#[test]
fn seeds_are_told_in_spans() {
    assert_eq!(spans(&[1, 2, 3, 7, 9, 10]), "1–3, 7, 9–10");
    assert_eq!(spans(&[]), "");
}

#[test]
fn an_axis_of_several_units_of_one_kind_is_to_scale() {
    let buffers = ["200 kB", "1 MB", "400 kB"];
    let row = |(point, buffer): (usize, &str)| crate::results::Row {
        point,
        seed: 1,
        values: vec![("buffer".into(), buffer.into())],
        metrics: vec![("delivered".into(), 1.0)],
    };
    let rows = buffers.into_iter().enumerate().map(row).collect();
    let results = crate::results::Results { build: Build::this(), scenario: String::new(), rows, missing: 0 };
    let axes = of_sweep::Axes::chosen(&results, None, None).unwrap();
    let figure = of_sweep::figure(&results, &axes, &of_sweep::Drawn::of("delivered"));
    let drawn = figure.unwrap().specification.to_string();
    for wanted in ["buffer (kB)", "200.0", "400.0", "1000.0"] {
        assert!(drawn.contains(wanted), "{wanted}: {drawn}");
    }
}
