"""The Earth-Mars relay against facts that were not taken from its own code."""

import math
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

COMMITTED = Path(__file__).parents[2] / "scenarios" / "places" / "earth_mars.contacts"
DAY_S = 86_400
SOL_S = 88_775.244
STATIONS, ORBITERS, ROVERS = {2, 3, 4}, {5, 6}, {7, 8}


def second(earth_mars: ModuleType, *date: int) -> int:
    """The second since J2000 of a UTC date."""
    found: int = earth_mars.second_of(datetime(*date, tzinfo=timezone.utc))  # type: ignore[arg-type,misc]
    return found


@pytest.fixture(scope="module")
def plan(earth_mars: ModuleType) -> Any:
    """The default plan."""
    return earth_mars.compute(second(earth_mars, 2026, 11, 21), 2, earth_mars.Parameters())


def between_planets(contacts: Any) -> list[Any]:
    """The contacts of stations and orbiters."""
    return [c for c in contacts if {c.source, c.target} & STATIONS and {c.source, c.target} & ORBITERS]


def in_view(contacts: Any, source: set[int], target: set[int]) -> int:
    """The seconds at which some source reaches some target, overlaps counted once."""
    covered: set[int] = set()
    for c in contacts:
        if c.source in source and c.target in target:
            covered.update(range(c.start, c.end))
    return len(covered)


def test_light_times_of_2026_to_2028_reach_those_of_the_jpl_ephemeris(
    earth_mars: ModuleType,
) -> None:
    # The reference was sampled at midnight; the true maximum is two hours before 12 May.
    first, last = second(earth_mars, 2026, 1, 1), second(earth_mars, 2029, 1, 1)
    times = {
        midnight: earth_mars.light_time_s(earth_mars.earth, earth_mars.mars, midnight)
        for midnight in range(first, last, DAY_S)
    }
    nearest, farthest = min(times, key=times.__getitem__), max(times, key=times.__getitem__)
    assert earth_mars.moment_of(nearest).startswith("2027-02-20")
    assert times[nearest] == pytest.approx(338.28, abs=0.02)
    assert earth_mars.moment_of(farthest).startswith("2028-05-12")
    assert times[farthest] == pytest.approx(1203.66, abs=0.02)


def test_no_station_reaches_an_orbiter_in_the_conjunction_of_2028(earth_mars: ModuleType) -> None:
    start = second(earth_mars, 2028, 3, 7)
    conjunction = earth_mars.compute(start, 29, earth_mars.Parameters())
    days = {c.start // DAY_S for c in between_planets(conjunction.contacts)}
    days |= {c.end // DAY_S for c in between_planets(conjunction.contacts)}
    # Day 0 is 7 March, day 28 is 4 April.
    assert not days & set(range(2, 27)), "the Sun is in the way from 9 March to 2 April"
    assert {0, 28} <= days, "Mars is in touch until 7 March and again on 4 April"


def test_the_sun_is_closer_than_three_degrees_from_8_march_to_3_april_2028(
    earth_mars: ModuleType,
) -> None:
    first, last = second(earth_mars, 2028, 2, 1), second(earth_mars, 2028, 5, 1)
    close = [s for s in range(first, last, 3600) if earth_mars.sun_angle_deg(s) < 3.0]
    assert earth_mars.moment_of(close[0]).startswith(("2028-03-07", "2028-03-08"))
    assert earth_mars.moment_of(close[-1]).startswith(("2028-04-02", "2028-04-03"))


def test_each_rover_is_seen_several_times_a_sol_by_the_orbiters(earth_mars: ModuleType) -> None:
    sols = 7
    days = math.ceil(sols * SOL_S / DAY_S)
    week = earth_mars.compute(second(earth_mars, 2027, 3, 1), days, earth_mars.Parameters())
    for rover in ROVERS:
        passes = [c for c in week.contacts if c.target == rover]
        for sol in range(sols):
            seen = [c for c in passes if sol * SOL_S <= c.start < (sol + 1) * SOL_S]
            assert 3 <= len(seen) <= 12, f"rover {rover} in sol {sol}"
        assert {c.source for c in passes} == ORBITERS
        assert max(c.end - c.start for c in passes) < 15 * 60


def test_the_committed_plan_is_what_the_script_writes(earth_mars: ModuleType, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert earth_mars.main(["--out", str(again)]) == 0
    assert again.read_bytes() == COMMITTED.read_bytes()


def test_mars_rises_at_each_station_when_the_library_says_so(earth_mars: ModuleType, plan: Any) -> None:
    import astronomy  # type: ignore[import-untyped]

    for station in earth_mars.STATIONS:
        observer = astronomy.Observer(station.latitude_deg, station.longitude_deg, station.height_m)
        rise = astronomy.SearchAltitude(
            astronomy.Body.Mars,
            observer,
            astronomy.Direction.Rise,
            astronomy.Time((plan.start + DAY_S / 2) / DAY_S),
            1.0,
            10.0,
        )
        elevation = earth_mars.mars_elevation_deg(station, rise.ut * DAY_S)
        assert elevation == pytest.approx(10.0, abs=0.01)


def test_it_was_mid_afternoon_in_gale_when_curiosity_landed(earth_mars: ModuleType) -> None:
    landing = second(earth_mars, 2012, 8, 6, 5, 18)
    gale = earth_mars.ROVERS[1]
    node, east, _, _ = earth_mars.mars_axes(landing)

    def right_ascension(v: Any) -> float:
        return math.degrees(math.atan2(earth_mars.dot(v, east), earth_mars.dot(v, node)))

    sun = right_ascension([-x for x in earth_mars.mars(landing)])
    rover = right_ascension(earth_mars.rover_from_mars(gale, landing))
    assert 12 + (rover - sun) % 360 / 15 == pytest.approx(15.0, abs=0.75)


def test_the_first_orbit_follows_the_sun(earth_mars: ModuleType) -> None:
    orbiter = earth_mars.ORBITERS[0]
    martian_year_s = 686.98 * DAY_S
    assert orbiter.node_drift_rad_per_s * martian_year_s == pytest.approx(2 * math.pi, rel=0.01)
    epoch = second(earth_mars, 2026, 11, 21)
    node, east, _, _ = earth_mars.mars_axes(epoch)
    sun = [-x for x in earth_mars.mars(epoch)]
    sun_deg = math.degrees(math.atan2(earth_mars.dot(sun, east), earth_mars.dot(sun, node)))
    hour = 12 + ((orbiter.node_deg - sun_deg + 180) % 360 - 180) / 15
    assert hour == pytest.approx(15.0, abs=0.01), "it rises over the equator at 15:00"


def test_what_leaves_in_a_contact_between_planets_arrives_in_view(earth_mars: ModuleType, plan: Any) -> None:
    stations = {s.number: s for s in earth_mars.STATIONS}
    orbiters = {o.number: o for o in earth_mars.ORBITERS}
    for c in between_planets(plan.contacts):
        ends = {**stations, **orbiters}
        for moment in (c.start, (c.start + c.end) // 2, c.end):
            leaves = plan.start + moment
            flight_s = earth_mars.light_time_s(
                earth_mars.position_of(ends[c.source]),
                earth_mars.position_of(ends[c.target]),
                leaves,
            )
            at = {c.source: leaves, c.target: leaves + flight_s}
            orbiter, station = (c.target, c.source) if c.target in orbiters else (c.source, c.target)
            assert earth_mars.orbiter_sees_earth(orbiters[orbiter], at[orbiter])
            assert earth_mars.mars_elevation_deg(stations[station], at[station]) > 9.99


def test_contacts_of_a_pair_go_both_ways_and_do_not_overlap(plan: Any) -> None:
    spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for c in plan.contacts:
        spans.setdefault((c.source, c.target), []).append((c.start, c.end))
    assert len(spans) == 2 * (3 + 3 * 2 + 2 * 2)
    for (source, target), list_of in spans.items():
        assert list_of == spans[target, source]
        assert all(before[1] < after[0] for before, after in pairwise(list_of))


def test_every_second_of_a_contact_has_one_light_time(plan: Any) -> None:
    ranges: dict[tuple[int, int], list[Any]] = {}
    for r in plan.ranges:
        ranges.setdefault((r.source, r.target), []).append(r)
    for c in plan.contacts:
        inside = [r for r in ranges[c.source, c.target] if c.start <= r.start < c.end]
        assert (inside[0].start, inside[-1].end) == (c.start, c.end)
        assert all(a.end == b.start for a, b in pairwise(inside))
        assert all(r.end - r.start <= 3600 for r in inside if c.source != 1 and c.target != 1)


def test_light_time_follows_the_ephemeris_within_a_quarter_of_a_second(
    earth_mars: ModuleType, plan: Any
) -> None:
    for r in plan.ranges:
        if {r.source, r.target} & STATIONS and {r.source, r.target} & ORBITERS:
            for moment in (r.start, r.end):
                exact = earth_mars.light_time_s(earth_mars.earth, earth_mars.mars, plan.start + moment)
                assert r.light_s == pytest.approx(exact, abs=0.25)


def test_windows_of_each_direction_hold_more_than_those_of_both(earth_mars: ModuleType, plan: Any) -> None:
    each = earth_mars.compute(plan.start, plan.days, earth_mars.Parameters(windows="each"))
    for source, target in ((STATIONS, ORBITERS), (ORBITERS, STATIONS)):
        assert in_view(each.contacts, source, target) > in_view(plan.contacts, source, target)


def test_a_plan_that_starts_later_tells_of_the_same_contacts(earth_mars: ModuleType, plan: Any) -> None:
    later = earth_mars.compute(plan.start + DAY_S, 1, earth_mars.Parameters())
    inner = {c for c in later.contacts if c.start > 0 and c.end < DAY_S}
    assert len(inner) > 50
    shifted = {
        earth_mars.Contact(c.start - DAY_S, c.end - DAY_S, c.source, c.target, c.byte_per_s)
        for c in plan.contacts
    }
    assert inner <= shifted


def test_every_line_of_the_plan_is_a_comment_a_contact_or_a_range() -> None:
    for line in COMMITTED.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        word, kind, start, end, source, target, value = line.split(" ")
        assert (word, kind in ("contact", "range")) == ("a", True)
        assert 0 <= int(start.removeprefix("+")) < int(end.removeprefix("+")) <= 2 * DAY_S
        assert {int(source), int(target)} <= {1} | STATIONS | ORBITERS | ROVERS
        assert float(value) > 0


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--days", "0"], "0 is not within 1..1000"),
        (["--days", "two"], "'two' is not a whole number"),
        (["--start", "tomorrow"], "'tomorrow' is not a UTC moment"),
        (["--start", "1500-01-01T00:00Z"], "outside the years"),
        (["--uplink-bit-per-s", "9"], "not a whole number of bytes"),
        (["--station-elevation-deg-min", "nan"], "not within 0..90"),
        (["--out", "no/such/folder/plan"], "cannot write"),
        (["--unknown"], "unrecognized arguments"),
    ],
)
def test_a_wrong_argument_is_told_in_one_line(
    earth_mars: ModuleType,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
) -> None:
    with pytest.raises(SystemExit) as leaving:
        earth_mars.main(arguments)
    assert leaving.value.code == 2
    told = capsys.readouterr()
    assert complaint in told.err
    assert told.err.count("\n") == 1
    assert told.out == ""
