//! Contact graph routing in a world whose links hold to the plan, and in which not everything goes to plan.

use crate::common::{Net, delivered, started};

/// A second at 2.5 Mbit/s.
const SECOND: u32 = 312_500;

#[test]
fn a_bundle_takes_the_way_that_is_first_at_the_end_not_the_one_that_leaves_first() {
    let net = Net::new(4).router("contact_graph").delay_s(2.0);
    let run = net
        .contact(0, 1, 10.0, 20.0)
        .contact(0, 2, 100.0, 110.0)
        .contact(2, 3, 120.0, 130.0)
        .contact(1, 3, 500.0, 510.0)
        .bundle(0, 3, SECOND, 0.0)
        .run();
    assert_eq!(started(&run), [(100.0, 0, 2, 0), (120.0, 2, 3, 0)]);
    assert_eq!(delivered(&run), [(123.0, 0)]);
}

#[test]
fn what_does_not_fit_into_a_contact_takes_the_next_one() {
    let net = Net::new(3).router("contact_graph");
    let net = net.contact(0, 1, 0.0, 3.5).contact(0, 1, 50.0, 60.0);
    let net = net.contact(1, 2, 10.0, 20.0).contact(1, 2, 100.0, 110.0);
    let run = (0..5).fold(net, |net, _| net.bundle(0, 2, SECOND, 0.0)).run();
    let times =
        |from: u32| started(&run).into_iter().filter(|begun| begun.1 == from).map(|begun| begun.0).collect();
    let [first, second]: [Vec<f64>; 2] = [times(0), times(1)];
    assert_eq!(first, [0.0, 1.0, 2.0, 50.0, 51.0]);
    assert_eq!(second, [10.0, 11.0, 12.0, 100.0, 101.0]);
}

#[test]
fn what_misses_its_contact_leaves_at_once_over_a_link_that_is_up() {
    // The radio of node 1 is busy with a bundle of its own: the bundle planned for 0.5 s leaves at 9.6 s.
    let net = Net::new(4).router("contact_graph").contact(0, 1, 0.0, 10.0).contact(0, 2, 0.0, 900.0);
    let net = net.contact(1, 3, 100.0, 200.0).contact(2, 3, 300.0, 400.0);
    let run = net.bundle(1, 0, 3_000_000, 0.0).bundle(0, 3, SECOND, 0.5).run();
    assert_eq!(started(&run), [(0.0, 1, 0, 0), (9.6, 0, 1, 1), (10.0, 0, 2, 1), (300.0, 2, 3, 1)]);
    assert_eq!(delivered(&run), [(9.6, 0), (301.0, 1)]);
}
