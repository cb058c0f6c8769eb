//! The first screen: DCCP beside TCP with the same controllers, and the faults of Linux.

use super::here::Here;
use super::plan::{RATE, RATES, SATELLITE, silent_link};
use super::variants::{CCID2, LINUX, LTP_CCID2, LTP_UNPACED, PAIRS, STUCK, Variant};
use crate::Error;
use crate::shared::front::{Shown, first_screen, percent, side_by_side};
use crate::shared::points::scenario;
use crate::shared::runs::Runs;
use lightlag_lab::report::{Colours, Front, HeatMap, Measure};
use lightlag_lab::results::{Results, interval_text};
use lightlag_lab::statistics::estimate;

/// The poster's link, in Mbit/s.
const LINK: f64 = 1.5;

fn goodput(here: Here<'_>, variant: Variant) -> Option<(f64, String)> {
    let made = estimate(&here.goodputs(variant))?;
    Some((made.mean, format!("{} Mbit/s", interval_text(Some(made)))))
}

/// The first screen.
pub fn front(results: &Results) -> Front {
    let (here, silent, ltp) =
        (Here::satellite(results, 0.0), Here::silence(results), Here::collapse(results));
    let [dccp, tcp] = [CCID2, PAIRS[1].0].map(|variant| goodput(here, variant));
    let beyond = here.beyond(PAIRS[1]);
    let won = dccp.as_ref().zip(tcp.as_ref()).zip(beyond).map(|((dccp, tcp), beyond)| {
        format!(
            "On the poster's satellite link of {LINK} Mbit/s DCCP with ccid2 delivers {}, TCP with the same controller {}: a difference of \
             {beyond:+.1} %, where 3 % count as alike.",
            dccp.1, tcp.1
        )
    });
    let stuck = goodput(silent, STUCK).zip(goodput(silent, CCID2)).map(|(stuck, ours)| {
        format!(
            "The fault of Linux that costs most is the stuck window: after an outage of 5 s it delivers {}, without the fault {}.",
            stuck.1, ours.1
        )
    });
    let limits = here.variation(LINUX).zip(goodput(here, LINUX)).map(|(variation, linux)| {
        format!(
            "What is not explained: on the poster's own link all four faults together still deliver {}, and connections differ by \
             {variation:.1} % (the poster shows huge variations).",
            linux.1
        )
    });
    let tile = |title: &str, value: Option<(f64, String)>| {
        value.map(|(mean, text)| {
            Measure::new(title, text, format!("link {LINK} Mbit/s")).of_bound(mean / LINK)
        })
    };
    let spread = here.variation(CCID2).map(|variation| {
        Measure::new("variation over connections", format!("{variation:.2} %"), "claimed below 2 %")
    });
    let drops = |variant| ltp.average(variant, "packets_dropped");
    let drops = drops(LTP_CCID2).zip(drops(LTP_UNPACED)).map(|(two, unpaced)| {
        Measure::new(
            "drops of LTP over DCCP",
            if two / unpaced < 1e-3 { "below 0.1\u{a0}%".to_owned() } else { percent(two / unpaced) },
            "of those over UDP unpaced; claimed at most 1 %",
        )
    });
    let measures = [
        tile("DCCP with ccid2", dccp),
        tile("TCP with ccid2", tcp),
        tile("stuck window, after an outage of 5 s", goodput(silent, STUCK)),
        spread,
        drops,
    ];
    first_screen([won, stuck, limits], measures, map(results))
}

fn map(results: &Results) -> Option<HeatMap> {
    let words = (
        "Goodput of DCCP beyond that of TCP, in %",
        "The same controller over both; a round trip of 100 ms. Within ±3 % they count as alike.",
    );
    let mut map = HeatMap::new(words, ["controller", "link"], Colours::Around(6.0));
    for pair in PAIRS {
        let name = pair.1.name.trim_start_matches("dccp, ");
        for rate in Runs::of(results, RATES).numbers(RATE) {
            let Some(beyond) = Here::rate(results, rate).beyond(pair) else { continue };
            map.add(
                name,
                &format!("{rate} Mbit/s"),
                beyond,
                &format!("{name} at {rate} Mbit/s: {beyond:+.2} %"),
            );
        }
        if let Some(beyond) = Here::satellite(results, 0.0).beyond(pair) {
            map.add(name, "satellite", beyond, &format!("{name} over the satellite: {beyond:+.2} %"));
        }
    }
    map.drawn()
}

/// Runs to look at: DCCP beside TCP, and the window that stays at one packet.
pub fn views() -> Result<Vec<Shown>, Error> {
    let of = |variant: Variant, silent: bool| {
        let minute = [("time_limit", "60 s".to_owned())];
        let outage = silent.then(silent_link).into_iter().flatten();
        scenario(SATELLITE, variant.sets().into_iter().chain(minute).chain(outage))
    };
    let words = [
        "view.html",
        "DCCP beside TCP with the same controller",
        "The first minute on the poster's link: the same losses, answered once each.",
    ];
    let loss = [
        "view_stuck.html",
        "The window that stays at one packet, and one that grows",
        "The poster's link, silent from 10 to 15 s: with the fault of Linux one packet leaves in a round trip.",
    ];
    Ok(vec![
        side_by_side(words, [("tcp, ccid2", of(PAIRS[1].0, false)?), ("dccp, ccid2", of(CCID2, false)?)])?,
        side_by_side(loss, [("stuck window", of(STUCK, true)?), ("without the fault", of(CCID2, true)?)])?,
    ])
}
