//! One colour for each algorithm, in whatever figure it is.

use super::PALETTE;

/// Algorithms and the number of their colour; those that are often in one figure have different ones.
const KNOWN: [(&str, usize); 48] = [
    // Mechanisms; `none` is the baseline, which has no hue.
    ("credit", 0),
    ("rrcc", 1),
    ("copy_value", 2),
    ("afner", 3),
    ("storage_routing", 4),
    ("smart_dtn_cc", 5),
    ("gbsd", 1),
    ("ion_forecast", 5),
    // Controllers.
    ("new_reno", 0),
    ("sack", 1),
    ("fack", 2),
    ("vegas", 3),
    ("westwood_plus", 4),
    ("arc", 5),
    ("cubic", 4),
    ("hybla", 2),
    ("bbr", 3),
    ("bbr3", 3),
    ("tcp_planet", 1),
    ("contact_rate", 0),
    ("udpdtn", 0),
    ("dcp", 0),
    ("aimd", 1),
    ("short_queue", 2),
    ("ledbat_plus_plus", 3),
    ("ledbat", 5),
    ("icp", 4),
    ("contug", 5),
    ("pcon", 3),
    ("scream", 4),
    ("ccid2", 2),
    ("ccid3", 3),
    ("udp", 5),
    // Connections that move.
    ("ours", 0),
    ("delay", 2),
    ("TCP only", 1),
    ("a kernel", 3),
    ("swapping to UDP", 4),
    ("UDP only", 5),
    // Faults that are switched on.
    ("without it", 0),
    ("with the fault of Linux", 1),
    // Routers.
    ("epidemic", 0),
    ("spray_and_wait", 1),
    ("prophet", 2),
    ("max_prop", 3),
    ("first_contact", 4),
    ("direct", 5),
    ("contact_graph", 4),
];

/// How a series is drawn: the number of its colour, and how many of the figure had it before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub colour: usize,
    pub before: usize,
}

/// The colour of a bar, which has no shape: where the colour has been before, paler each time.
pub(super) fn of_bar(look: Look) -> String {
    let rest = [1.0, 0.5, 0.25, 0.75][look.before % 4];
    let part = |at: usize| u8::from_str_radix(&PALETTE[look.colour][at..at + 2], 16).unwrap_or(0);
    let pale = |part: u8| (255.0 - rest * (255.0 - f64::from(part))).round() as u8;
    let [red, green, blue] = [1, 3, 5].map(|at| pale(part(at)));
    format!("#{red:02X}{green:02X}{blue:02X}")
}

/// The looks of the series of a figure, in their order. Of "arc, each loss" or "tcp, sack" the first part that is known decides:
/// variants of an algorithm have its colour. Others have the colours that are left.
pub(super) fn looks(names: &[&str]) -> Vec<Look> {
    let known: Vec<Option<usize>> = names.iter().map(|name| known(name)).collect();
    let mut used = [0; PALETTE.len()];
    known.iter().flatten().for_each(|colour| used[*colour] += 1);
    let chosen = known.into_iter().map(|colour| {
        colour.unwrap_or_else(|| {
            let least = (0..PALETTE.len()).min_by_key(|colour| used[*colour]).unwrap_or(0);
            used[least] += 1;
            least
        })
    });
    let mut seen = [0; PALETTE.len()];
    let look = |colour: usize| {
        let before = seen[colour];
        seen[colour] += 1;
        Look { colour, before }
    };
    chosen.map(look).collect()
}

fn known(name: &str) -> Option<usize> {
    let of = |part: &str| KNOWN.iter().find(|(known, _)| *known == part).map(|(_, colour)| *colour);
    name.split(", ").find_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(names: &[&str]) -> Vec<usize> {
        looks(names).into_iter().map(|look| look.colour).collect()
    }

    #[test]
    fn an_algorithm_has_one_colour_whatever_is_beside_it() {
        let [alone, beside] = [colours(&["arc"]), colours(&["other", "sack", "arc, each loss"])];
        assert_eq!((alone[0], beside[2]), (5, 5));
        assert_eq!(colours(&["tcp, sack", "dccp, sack"]), [1, 1], "over any transport");
        assert_eq!(looks(&["tcp, sack", "dccp, sack"])[1].before, 1);
    }

    #[test]
    fn bars_of_one_algorithm_are_paler_each_time() {
        let of = |before| of_bar(Look { colour: 0, before });
        assert_eq!([of(0), of(1)], ["#0072B2", "#80B9D9"]);
        let all: std::collections::BTreeSet<String> = (0..4).map(of).collect();
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn others_have_the_colours_that_are_left() {
        assert_eq!(colours(&["a", "credit", "b", "c"]), [1, 0, 2, 3]);
        let many: Vec<String> = (0..13).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(looks(&many)[12], Look { colour: 0, before: 2 });
    }

    #[test]
    fn mechanisms_of_the_study_and_controllers_of_one_figure_differ() {
        let sets: [&[&str]; 4] = [
            &["credit", "rrcc", "afner", "storage_routing", "copy_value", "smart_dtn_cc"],
            &["new_reno", "sack", "fack", "vegas", "westwood_plus", "arc"],
            &["dcp", "ledbat", "ledbat_plus_plus", "aimd", "cubic", "short_queue"],
            &["tcp, sack", "tcp, new_reno", "tcp, cubic", "dccp, ccid2", "dccp, ccid3", "udp"],
        ];
        for set in sets {
            let all: std::collections::BTreeSet<usize> = colours(set).into_iter().collect();
            assert_eq!(all.len(), set.len(), "{set:?}");
        }
    }
}
