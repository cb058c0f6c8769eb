#!/usr/bin/env python3
"""Compute a contact plan of an Earth-Mars relay from the ephemeris.

Mission control talks to three Deep Space Network stations over the ground, the stations to two
Mars orbiters, the orbiters to two rovers. The planets come from astronomy-engine (VSOP87, the IAU
rotation of Mars); the orbits are circles of stated size. The plan is in ION's words, `a contact`
and `a range`, and a pure function of the arguments.

A contact from A to B holds the seconds at which data sent by A arrive at B: the light time lies
between the view at one end and the view at the other.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

try:
    import astronomy  # type: ignore[import-untyped]
except ImportError:
    if __name__ != "__main__":
        raise
    print(
        "earth_mars.py: error: astronomy-engine is missing: pip install astronomy-engine",
        file=sys.stderr,
    )
    sys.exit(2)

Vector = tuple[float, float, float]
"""Kilometres in the equatorial frame of J2000."""

Window = tuple[int, int]
"""The first and the last whole second of an interval, counted from J2000 (days of 86,400 s)."""

Position = Callable[[float], Vector]
"""Where something is, from the Sun, at a second since J2000."""

J2000 = datetime(2000, 1, 1, 12, tzinfo=timezone.utc)
LIGHT_KM_PER_S = 299_792.458
DAY_S = 86_400

# IAU 2015 (radius) and the MRO gravity solutions (the rest), to the digits that matter here.
MARS_RADIUS_KM = 3396.19
MARS_GM_KM3_PER_S2 = 42_828.37
MARS_J2 = 1.9605e-3

# Beyond the longest Earth-Mars light time: data sent in the last second arrive within this.
FLIGHT_MAX_S = 1_500

# How far apart the views are sampled. A pass that slips between two samples is shorter than that,
# and `--contact-s-min` discards it in any case.
STEP_S = 60

# How many moments are remembered: every view of a plan of 90 days asks for the same ones.
REMEMBERED = 90 * DAY_S // STEP_S


# --- Who there is ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Station:
    """A ground station on Earth (geodetic, WGS 84)."""

    number: int
    name: str
    latitude_deg: float
    longitude_deg: float
    height_m: float
    ground_delay_s: float


@dataclass(frozen=True)
class Orbiter:
    """A satellite of Mars on a circle whose node drifts as the flattening of Mars makes it."""

    number: int
    name: str
    altitude_km: float
    inclination_deg: float
    node_deg: float
    phase_deg: float

    @property
    def radius_km(self) -> float:
        """The radius of the orbit."""
        return MARS_RADIUS_KM + self.altitude_km

    @property
    def motion_rad_per_s(self) -> float:
        """The angle that it covers per second."""
        return math.sqrt(MARS_GM_KM3_PER_S2 / self.radius_km**3)

    @property
    def node_drift_rad_per_s(self) -> float:
        """The secular drift of the ascending node: -3/2 n J2 (R/a)^2 cos i."""
        flattening = MARS_J2 * (MARS_RADIUS_KM / self.radius_km) ** 2
        return -1.5 * self.motion_rad_per_s * flattening * math.cos(math.radians(self.inclination_deg))


@dataclass(frozen=True)
class Rover:
    """A rover on the surface of Mars (east longitude, on a sphere)."""

    number: int
    name: str
    latitude_deg: float
    longitude_deg: float


CONTROL_NUMBER = 1
CONTROL_NAME = "mission_control"

# The 70 m antennas DSS-14, DSS-43 and DSS-63. The delays of the ground network are assumed: fibre
# of about 1.5 times the great circle from Pasadena.
STATIONS = (
    Station(2, "goldstone", 35.4259, -116.8895, 1001.0, 0.002),
    Station(3, "canberra", -35.4024, 148.9813, 689.0, 0.090),
    Station(4, "madrid", 40.4314, -4.2480, 865.0, 0.070),
)

# At this moment the orbiters are at `node_deg` (from the node of Mars' equator on Earth's, the zero
# of the IAU rotation) and `phase_deg` (from the ascending node). It is fixed, so that plans of
# different starts have the same satellites.
ORBIT_EPOCH = datetime(2026, 11, 21, tzinfo=timezone.utc)

# The first is like Mars Reconnaissance Orbiter: Sun-synchronous, rising through 15:00 local solar
# time. The second is like the ExoMars Trace Gas Orbiter.
ORBITERS = (
    Orbiter(5, "sun_synchronous_orbiter", 300.0, 92.65, 290.95, 0.0),
    Orbiter(6, "inclined_orbiter", 400.0, 74.0, 60.0, 120.0),
)

ROVERS = (
    Rover(7, "jezero_rover", 18.44, 77.45),
    Rover(8, "gale_rover", -4.59, 137.44),
)


@dataclass(frozen=True)
class Parameters:
    """What can be set; the metadata is the help of the command line."""

    station_elevation_deg_min: float = 10.0
    rover_elevation_deg_min: float = 10.0
    sun_angle_deg_min: float = 3.0
    contact_s_min: int = 60
    range_s: int = 3600
    uplink_bit_per_s: int = 16_000
    downlink_bit_per_s: int = 2_000_000
    forward_bit_per_s: int = 32_000
    return_bit_per_s: int = 2_048_000
    ground_bit_per_s: int = 100_000_000
    windows: str = "both"


MEANING = {
    "station_elevation_deg_min": "least elevation of Mars at a station",
    "rover_elevation_deg_min": "least elevation of an orbiter at a rover",
    "sun_angle_deg_min": "least angle Sun-Earth-Mars; below it the Sun drowns the signal",
    "contact_s_min": "shorter contacts are skipped",
    "range_s": "how often the light time between the planets is evaluated again",
    "uplink_bit_per_s": "station to orbiter, X band",
    "downlink_bit_per_s": "orbiter to station, X band",
    "forward_bit_per_s": "orbiter to rover, UHF",
    "return_bit_per_s": "rover to orbiter, UHF",
    "ground_bit_per_s": "mission control to station and back",
    "windows": "'both': a pass between the planets is the time at which both directions work, "
    "written once for each; 'each': every direction has its own window, a light time apart",
}


# --- Where everything is -----------------------------------------------------------------------


def add(a: Vector, b: Vector) -> Vector:
    """A + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vector, b: Vector) -> Vector:
    """A - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def dot(a: Vector, b: Vector) -> float:
    """The scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def length(a: Vector) -> float:
    """The Euclidean norm."""
    return math.sqrt(dot(a, a))


def angle_deg(a: Vector, b: Vector) -> float:
    """The angle between two directions."""
    cosine = dot(a, b) / (length(a) * length(b))
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def second_of(moment: datetime) -> int:
    """The second since J2000 of a moment."""
    return round((moment - J2000).total_seconds())


def moment_of(second: int) -> str:
    """The inverse of `second_of`, as people write it."""
    return (J2000 + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _time(second: float) -> astronomy.Time:
    return astronomy.Time(second / DAY_S)


def _km(vector: astronomy.Vector) -> Vector:
    scale = astronomy.KM_PER_AU
    return (vector.x * scale, vector.y * scale, vector.z * scale)


@lru_cache(maxsize=REMEMBERED)
def earth(second: float) -> Vector:
    """The centre of the Earth, from the Sun."""
    return _km(astronomy.HelioVector(astronomy.Body.Earth, _time(second)))


@lru_cache(maxsize=REMEMBERED)
def mars(second: float) -> Vector:
    """The centre of Mars, from the Sun."""
    return _km(astronomy.HelioVector(astronomy.Body.Mars, _time(second)))


@lru_cache(maxsize=REMEMBERED)
def mars_axes(second: float) -> tuple[Vector, Vector, Vector, float]:
    """The node of Mars' equator, what is 90 degrees east of it, the pole, and the turn (rad)."""
    axis = astronomy.RotationAxis(astronomy.Body.Mars, _time(second))
    pole = (axis.north.x, axis.north.y, axis.north.z)
    right_ascension = math.radians(axis.ra * 15.0)
    node = (-math.sin(right_ascension), math.cos(right_ascension), 0.0)
    east = (
        pole[1] * node[2] - pole[2] * node[1],
        pole[2] * node[0] - pole[0] * node[2],
        pole[0] * node[1] - pole[1] * node[0],
    )
    return node, east, pole, math.radians(math.fmod(axis.spin, 360.0))


def _from_mars(second: float, x: float, y: float, z: float) -> Vector:
    node, east, pole, _ = mars_axes(second)
    return (
        x * node[0] + y * east[0] + z * pole[0],
        x * node[1] + y * east[1] + z * pole[1],
        x * node[2] + y * east[2] + z * pole[2],
    )


def orbiter_from_mars(orbiter: Orbiter, second: float) -> Vector:
    """An orbiter, from the centre of Mars."""
    elapsed_s = second - second_of(ORBIT_EPOCH)
    node = math.radians(orbiter.node_deg) + orbiter.node_drift_rad_per_s * elapsed_s
    phase = math.radians(orbiter.phase_deg) + orbiter.motion_rad_per_s * elapsed_s
    inclination = math.radians(orbiter.inclination_deg)
    along = orbiter.radius_km * math.cos(phase)
    across = orbiter.radius_km * math.sin(phase)
    level = across * math.cos(inclination)
    return _from_mars(
        second,
        along * math.cos(node) - level * math.sin(node),
        along * math.sin(node) + level * math.cos(node),
        across * math.sin(inclination),
    )


def rover_from_mars(rover: Rover, second: float) -> Vector:
    """A rover, from the centre of Mars."""
    longitude = mars_axes(second)[3] + math.radians(rover.longitude_deg)
    latitude = math.radians(rover.latitude_deg)
    level = MARS_RADIUS_KM * math.cos(latitude)
    return _from_mars(
        second,
        level * math.cos(longitude),
        level * math.sin(longitude),
        MARS_RADIUS_KM * math.sin(latitude),
    )


def _observer(station: Station) -> astronomy.Observer:
    return astronomy.Observer(station.latitude_deg, station.longitude_deg, station.height_m)


def station_from_earth(station: Station, second: float) -> Vector:
    """A station, from the centre of the Earth."""
    return _km(astronomy.ObserverVector(_time(second), _observer(station), False))


def position_of(node: Station | Orbiter | Rover) -> Position:
    """Where a node is, from the Sun."""
    if isinstance(node, Station):
        return lambda second: add(earth(second), station_from_earth(node, second))
    if isinstance(node, Orbiter):
        return lambda second: add(mars(second), orbiter_from_mars(node, second))
    return lambda second: add(mars(second), rover_from_mars(node, second))


def light_time_s(source: Position, target: Position, departure: float) -> float:
    """Light time in seconds from `source` at `departure` to `target`."""
    origin = source(departure)
    flight_s = 0.0
    # Each round shrinks the error by the speed of the planets over that of light, about 1e-4.
    for _ in range(3):
        flight_s = length(subtract(target(departure + flight_s), origin)) / LIGHT_KM_PER_S
    return flight_s


def departure_of(source: Position, target: Position, arrival: float) -> float:
    """When it left `source`, if it is at `target` at `arrival`."""
    end = target(arrival)
    flight_s = 0.0
    for _ in range(3):
        flight_s = length(subtract(end, source(arrival - flight_s))) / LIGHT_KM_PER_S
    return arrival - flight_s


# --- Who sees whom -----------------------------------------------------------------------------


@lru_cache(maxsize=REMEMBERED)
def mars_from_earth(second: float) -> Vector:
    """Mars as the Earth sees it: where it was when its light left."""
    return subtract(mars(departure_of(mars, earth, second)), earth(second))


@lru_cache(maxsize=REMEMBERED)
def sun_angle_deg(second: float) -> float:
    """The angle Sun-Earth-Mars."""
    here = earth(second)
    return angle_deg((-here[0], -here[1], -here[2]), mars_from_earth(second))


def mars_elevation_deg(station: Station, second: float) -> float:
    """The height of Mars over the horizon of a station, without refraction."""
    time = _time(second)
    sight = subtract(mars_from_earth(second), station_from_earth(station, second))
    horizontal = astronomy.RotateVector(
        astronomy.Rotation_EQJ_HOR(time, _observer(station)), astronomy.Vector(*sight, time)
    )
    return math.degrees(math.atan2(horizontal.z, math.hypot(horizontal.x, horizontal.y)))


def orbiter_elevation_deg(rover: Rover, orbiter: Orbiter, second: float) -> float:
    """The height of an orbiter over the horizon of a rover."""
    up = rover_from_mars(rover, second)
    return 90.0 - angle_deg(up, subtract(orbiter_from_mars(orbiter, second), up))


def orbiter_sees_earth(orbiter: Orbiter, second: float) -> bool:
    """Whether Mars, a ball without air, leaves the line of sight free."""
    place = orbiter_from_mars(orbiter, second)
    sight = subtract(earth(second), mars(second))
    ahead = dot(place, sight) / length(sight)
    return ahead > 0.0 or dot(place, place) - ahead * ahead > MARS_RADIUS_KM**2


def windows_of(holds: Callable[[int], bool], first: int, last: int) -> list[Window]:
    """The seconds of `first..=last` at which `holds`: samples, refined to the second."""

    def change(before: int, after: int) -> int:
        """The first second that is as `after` is."""
        answer = holds(after)
        while after - before > 1:
            middle = (before + after) // 2
            if holds(middle) == answer:
                after = middle
            else:
                before = middle
        return after

    windows: list[Window] = []
    opened = first if holds(first) else None
    before = first
    # The grid is that of J2000, so that plans of different starts agree where they overlap.
    grid = range(first - first % STEP_S + STEP_S, last, STEP_S)
    for after in [*grid, last]:
        if holds(after) != (opened is not None):
            edge = change(before, after)
            if opened is None:
                opened = edge
            else:
                windows.append((opened, edge - 1))
                opened = None
        before = after
    if opened is not None:
        windows.append((opened, last))
    return windows


def intersect(a: Sequence[Window], b: Sequence[Window]) -> list[Window]:
    """The seconds that are in both."""
    common: list[Window] = []
    i = j = 0
    while i < len(a) and j < len(b):
        first, last = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if first <= last:
            common.append((first, last))
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return common


def departures(source: Position, target: Position, arrivals: Sequence[Window]) -> list[Window]:
    """When to leave `source` in order to arrive at `target` within `arrivals`."""
    return [
        (
            math.ceil(departure_of(source, target, first)),
            math.floor(departure_of(source, target, last)),
        )
        for first, last in arrivals
    ]


# --- The plan ----------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Contact:
    """`source` can send to `target` from `start` to `end` (seconds of the plan)."""

    start: int
    end: int
    source: int
    target: int
    byte_per_s: int


@dataclass(frozen=True, order=True)
class Range:
    """Data sent by `source` from `start` to `end` take `light_s` to `target`."""

    start: int
    end: int
    source: int
    target: int
    light_s: float


@dataclass(frozen=True)
class Plan:
    """A contact plan; its zero is `start`, seconds since J2000."""

    start: int
    days: int
    parameters: Parameters
    contacts: list[Contact]
    ranges: list[Range]


def compute(start: int, days: int, parameters: Parameters) -> Plan:
    """Compute the plan of the days from `start` on."""
    end = start + days * DAY_S
    contacts: list[Contact] = []
    ranges: list[Range] = []

    def link(
        source: Station | Orbiter | Rover,
        target: Station | Orbiter | Rover,
        windows: Sequence[Window],
        bit_per_s: int,
        range_s: int | None,
    ) -> None:
        for first, last in intersect(windows, [(start, end)]):
            if last - first < parameters.contact_s_min:
                continue
            contacts.append(
                Contact(first - start, last - start, source.number, target.number, bit_per_s // 8)
            )
            cuts = [first, last]
            if range_s is not None:
                cuts[1:1] = range(first - (first - start) % range_s + range_s, last, range_s)
            for left, right in pairwise(cuts):
                light_s = light_time_s(position_of(source), position_of(target), (left + right) / 2)
                ranges.append(Range(left - start, right - start, source.number, target.number, light_s))

    for station in STATIONS:
        for pair in ((CONTROL_NUMBER, station.number), (station.number, CONTROL_NUMBER)):
            contacts.append(Contact(0, end - start, *pair, parameters.ground_bit_per_s // 8))
            ranges.append(Range(0, end - start, *pair, station.ground_delay_s))

    def station_sees(station: Station, second: int) -> bool:
        return (
            sun_angle_deg(second) >= parameters.sun_angle_deg_min
            and mars_elevation_deg(station, second) >= parameters.station_elevation_deg_min
        )

    def rover_sees(rover: Rover, orbiter: Orbiter, second: int) -> bool:
        return orbiter_elevation_deg(rover, orbiter, second) >= parameters.rover_elevation_deg_min

    # Data sent in the last second arrive after the plan.
    horizon = end + FLIGHT_MAX_S
    from_earth = {s: windows_of(partial(station_sees, s), start, horizon) for s in STATIONS}
    from_mars = {o: windows_of(partial(orbiter_sees_earth, o), start, horizon) for o in ORBITERS}
    for station in STATIONS:
        for orbiter in ORBITERS:
            up = intersect(from_earth[station], departures(earth, mars, from_mars[orbiter]))
            down = intersect(from_mars[orbiter], departures(mars, earth, from_earth[station]))
            if parameters.windows == "both":
                up = down = intersect(up, down)
            link(station, orbiter, up, parameters.uplink_bit_per_s, parameters.range_s)
            link(orbiter, station, down, parameters.downlink_bit_per_s, parameters.range_s)

    for orbiter in ORBITERS:
        for rover in ROVERS:
            passes = windows_of(partial(rover_sees, rover, orbiter), start, end)
            link(orbiter, rover, passes, parameters.forward_bit_per_s, None)
            link(rover, orbiter, passes, parameters.return_bit_per_s, None)

    return Plan(start, days, parameters, sorted(contacts), sorted(ranges))


def header(plan: Plan) -> list[str]:
    """The comment lines: what the plan is, from what, and who the nodes are."""
    lines = [
        "Earth-Mars relay: a contact plan in ION's words, computed by earth_mars.py",
        "",
        f"epoch (+0) {moment_of(plan.start)}",
        f"days       {plan.days}",
        "",
        "a contact +START +END FROM TO RATE    seconds since the epoch, bytes per second",
        "a range   +START +END FROM TO LIGHT   seconds since the epoch, seconds of light one way",
        "",
        "A contact holds the seconds at which data sent by FROM arrive at TO. Contacts are",
        "opportunities: who may use one antenna at a time is for the reader to say. A range holds",
        "for data sent in its interval and is the light time at its middle; it is given for each",
        "direction and covers the contacts only. (ION itself counts in whole light seconds.)",
        "",
        "sources",
        "  planets   astronomy-engine (VSOP87), heliocentric; UTC taken as UT1",
        "  Mars      rotation and radius IAU 2015, occultation by a ball of "
        f"{MARS_RADIUS_KM} km, GM {MARS_GM_KM3_PER_S2} km3/s2, J2 {MARS_J2}",
        "  orbits    circles with secular drift of the node; node and phase (degrees) at "
        f"{moment_of(second_of(ORBIT_EPOCH))}",
        "  rates     parameters, constant over distance; see the README beside earth_mars.py",
        "",
        "parameters",
    ]
    for field in fields(plan.parameters):
        lines.append(f"  {field.name:<26} {getattr(plan.parameters, field.name)}")
    lines += ["", "nodes", f"  {CONTROL_NUMBER} {CONTROL_NAME}"]
    for station in STATIONS:
        lines.append(
            f"  {station.number} {station.name}: Earth, latitude {station.latitude_deg}, "
            f"longitude {station.longitude_deg}, {station.height_m:g} m"
        )
    for orbiter in ORBITERS:
        period_min = 2 * math.pi / orbiter.motion_rad_per_s / 60
        lines.append(
            f"  {orbiter.number} {orbiter.name}: Mars, altitude {orbiter.altitude_km:g} km, "
            f"inclination {orbiter.inclination_deg}, node {orbiter.node_deg}, "
            f"phase {orbiter.phase_deg}, period {period_min:.1f} min"
        )
    for rover in ROVERS:
        lines.append(
            f"  {rover.number} {rover.name}: Mars, latitude {rover.latitude_deg}, "
            f"longitude {rover.longitude_deg}"
        )
    return [f"# {line}".rstrip() for line in lines]


def render(plan: Plan) -> str:
    """The plan as text."""
    lines = [*header(plan), ""]
    for contact in plan.contacts:
        span = f"+{contact.start} +{contact.end}"
        lines.append(f"a contact {span} {contact.source} {contact.target} {contact.byte_per_s}")
    lines.append("")
    # Four decimals of a second are 30 km: within the stated error of the ephemeris for planets,
    # a tenth of a millisecond for rovers under an orbiter.
    for r in plan.ranges:
        lines.append(f"a range +{r.start} +{r.end} {r.source} {r.target} {r.light_s:.4f}")
    return "\n".join(lines) + "\n"


# --- The command line --------------------------------------------------------------------------


class Parser(argparse.ArgumentParser):
    """A parser whose refusal is one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and leave with 2."""
        self.exit(2, f"{self.prog}: error: {message}\n")


def moment(text: str) -> datetime:
    """Read a UTC moment such as 2026-11-21T00:00Z."""
    for form in ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ"):
        try:
            found = datetime.strptime(text, form).replace(tzinfo=timezone.utc)
        except ValueError:
            continue
        if 1950 <= found.year <= 2050:
            return found
        raise argparse.ArgumentTypeError(f"{text!r} is outside the years 1950 to 2050")
    raise argparse.ArgumentTypeError(f"{text!r} is not a UTC moment such as 2026-11-21T00:00Z")


def whole(least: int, most: int) -> Callable[[str], int]:
    """A reader of whole numbers within bounds."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{number} is not within {least}..{most}")
        return number

    return read


def rate(text: str) -> int:
    """A reader of bits per second that make whole bytes."""
    bit_per_s = whole(8, 10**12)(text)
    if bit_per_s % 8 != 0:
        raise argparse.ArgumentTypeError(f"{bit_per_s} bit/s is not a whole number of bytes per second")
    return bit_per_s


def angle(text: str) -> float:
    """A reader of angles from 0 to 90 degrees."""
    try:
        degrees = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of degrees") from None
    if not 0.0 <= degrees <= 90.0:
        raise argparse.ArgumentTypeError(f"{degrees} is not within 0..90 degrees")
    return degrees


def parser() -> argparse.ArgumentParser:
    """The command line; every parameter of the plan is an option."""
    options = Parser(
        prog="earth_mars.py", description="Contact plan of an Earth-Mars relay, as ION reads it."
    )
    options.add_argument("--start", type=moment, default=ORBIT_EPOCH, help="UTC (2026-11-21T00:00Z)")
    options.add_argument("--days", type=whole(1, 1000), default=2, help="length of the plan (2)")
    options.add_argument("--out", type=Path, help="file to write (standard output)")
    for field in fields(Parameters):
        flag = "--" + field.name.replace("_", "-")
        meaning = f"{MEANING[field.name]} ({field.default})"
        if field.name == "windows":
            options.add_argument(flag, choices=("both", "each"), default=field.default, help=meaning)
            continue
        if field.name.endswith("_bit_per_s"):
            read: Callable[[str], float] = rate
        elif field.name.endswith("_deg_min"):
            read = angle
        else:
            read = whole(1, DAY_S)
        options.add_argument(flag, type=read, default=field.default, help=meaning)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the plan that the command line asks for."""
    options = parser()
    asked = options.parse_args(arguments)
    parameters = Parameters(**{field.name: getattr(asked, field.name) for field in fields(Parameters)})
    text = render(compute(second_of(asked.start), asked.days, parameters))
    if asked.out is None:
        sys.stdout.write(text)
        return 0
    try:
        asked.out.write_bytes(text.encode())
    except OSError as problem:
        options.error(f"cannot write {asked.out}: {problem.strerror}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
