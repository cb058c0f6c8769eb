//! Why connections move, for logs and for people.

use crate::time::Duration;
use std::fmt;

/// How fast a stream is, and was at best, in bytes/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Of late.
    pub now: f64,
    /// While its round trip was short.
    pub best: f64,
}

/// Why a kind of stack is used. Its [`Display`](fmt::Display) is one line with figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StackReason {
    /// Nothing is known yet.
    Start,
    /// There is no stream.
    NotConnected,
    /// There are no datagrams.
    NoDatagrams,
    /// The interface is down.
    LinkDown,
    /// The plan has no contact.
    NoContact,
    /// The planned one-way delay is long.
    PlannedDelay {
        /// One way.
        delay: Duration,
        /// That streams are for.
        most: Duration,
    },
    /// The stream's round trip is long, and that is not its own queue.
    LongRoundTrip {
        /// Smoothed.
        rtt: Duration,
        /// That streams are for.
        most: Duration,
        /// None: the application asks for less than there is, or it never was fast.
        share: Option<Share>,
    },
    /// Its timer doubles.
    BacksOff {
        /// Number of doublings.
        doublings: u32,
    },
    /// It is not answered.
    Silent {
        /// Time without an answer.
        span: Duration,
        /// Longer than this.
        most: Duration,
    },
    /// The stream loses all the time.
    Loses {
        /// The share of its segments that it sends again.
        share: f64,
        /// What it carries, in bytes/s.
        rate: f64,
    },
    /// Datagrams do not carry more than the stream that loses, both in bytes/s.
    CarryLess {
        /// Datagrams.
        now: f64,
        /// The stream did.
        stream: f64,
    },
    /// The round trip of datagrams is short.
    ShortRoundTrip {
        /// The least of late.
        rtt: Duration,
        /// That streams are for.
        most: Duration,
    },
    /// The other side sends by it, and this side mostly responds.
    Led,
    /// Datagrams are not answered, but a stream is.
    Unheard {
        /// Time without an answer.
        span: Duration,
    },
}

impl fmt::Display for StackReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Start => f.write_str("nothing is known yet"),
            Self::NotConnected => f.write_str("TCP is not connected"),
            Self::NoDatagrams => f.write_str("datagrams are not set up"),
            Self::LinkDown => f.write_str("the interface is down"),
            Self::NoContact => f.write_str("the plan has no contact"),
            Self::PlannedDelay { delay, most } => {
                write!(f, "planned delay {}, more than {}", span(delay), span(most))
            }
            Self::LongRoundTrip { rtt, most, share } => {
                write!(f, "round trip {}, more than {}", span(rtt), span(most))?;
                let Some(Share { now, best }) = share else { return Ok(()) };
                write!(f, ", at {:.0} of {:.0} kB/s", now / 1e3, best / 1e3)
            }
            Self::BacksOff { doublings } => write!(f, "TCP's timer was doubled {doublings} times"),
            Self::Silent { span: silent, most } => {
                write!(f, "no acknowledgement for {}, more than {}", span(silent), span(most))
            }
            Self::Loses { share, rate } => {
                write!(f, "TCP loses {:.1} %, and carries {:.0} kB/s", share * 100.0, rate / 1e3)
            }
            Self::CarryLess { now, stream } => {
                write!(f, "datagrams carry {:.0} kB/s, TCP carried {:.0}", now / 1e3, stream / 1e3)
            }
            Self::ShortRoundTrip { rtt, most } => {
                write!(f, "round trip {}, less than {}", span(rtt), span(most))
            }
            Self::Led => f.write_str("the other side sends by it"),
            Self::Unheard { span: silent } => {
                write!(f, "datagrams not answered for {}, TCP is", span(silent))
            }
        }
    }
}

fn span(span: Duration) -> String {
    let seconds = span.as_secs_f64();
    if seconds < 10.0 { format!("{:.0} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}
