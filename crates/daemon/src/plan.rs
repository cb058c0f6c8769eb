//! When another daemon can be reached, as somebody has planned it.

use lightlag_protocols::session::Planned;
use lightlag_protocols::time::Duration;
use lightlag_protocols::units::parse;
use serde::{Deserialize, Deserializer};
use std::time::SystemTime;

/// A span of time in which it can be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// From then on, in UTC (RFC 3339).
    #[serde(deserialize_with = "time")]
    pub from: SystemTime,
    /// Up to then.
    #[serde(deserialize_with = "time")]
    pub to: SystemTime,
    /// How long it takes to get there.
    #[serde(default, deserialize_with = "span")]
    pub delay: Duration,
}

fn time<'de, D: Deserializer<'de>>(from: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(from)?;
    humantime::parse_rfc3339(&text).map_err(|why| {
        serde::de::Error::custom(format!("{text:?}: {why}; it must be as \"2026-11-22T10:00:00Z\""))
    })
}

fn span<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    parse::time(&text).map_err(serde::de::Error::custom)
}

/// What a plan says of a time; none if there is no plan. Of contacts that overlap the one with the least delay counts.
pub fn says(contacts: &[Contact], now: SystemTime) -> Option<Planned> {
    if contacts.is_empty() {
        return None;
    }
    let here = contacts.iter().filter(|contact| (contact.from..contact.to).contains(&now));
    let least = here.map(|contact| contact.delay).min();
    Some(least.map_or(Planned::NoContact, Planned::Delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    struct Settings {
        contact: Vec<Contact>,
    }

    #[test]
    fn a_plan_says_the_delay_within_a_contact_and_that_there_is_none_outside() {
        let read: Settings = toml::from_str(
            "[[contact]]\nfrom = \"2026-11-22T10:00:00Z\"\nto = \"2026-11-22T10:20:00Z\"\ndelay = \"2min\"\n\
             [[contact]]\nfrom = \"2026-11-22T10:10:00Z\"\nto = \"2026-11-22T10:30:00Z\"\n",
        )
        .unwrap();
        let at = |text| says(&read.contact, humantime::parse_rfc3339(text).unwrap());
        assert_eq!(at("2026-11-22T09:59:59Z"), Some(Planned::NoContact));
        assert_eq!(at("2026-11-22T10:00:00Z"), Some(Planned::Delay(Duration::from_secs(120))));
        assert_eq!(at("2026-11-22T10:10:00Z"), Some(Planned::Delay(Duration::ZERO)));
        assert_eq!(at("2026-11-22T10:30:00Z"), Some(Planned::NoContact));
        assert_eq!(says(&[], SystemTime::UNIX_EPOCH), None);
    }
}
