//! The working day: home, office, an evening with friends, and the trips between by car, by bus or on foot.

mod evening;
mod home;
mod office;

use super::map::RoadMap;
use super::together::{Going, Member, Shared, Systems, Turn};
use super::{AREA, Entry, GroupContext, Input, PAUSE, Pace, SPEED, on_map};
use super::{Area, Begin, Bounds, Draw, MobilityError, Model, Point};
use evening::Evening;
use home::Home;
use lightlag_protocols::parameter::{self, Parameter, Parameters};
use office::Office;
use std::sync::Arc;

/// A time that a node needs, up to a hundred years.
const TIME: (f64, f64) = (0.0, 3.155_76e9);
/// Numbers of systems.
const SYSTEMS: (f64, f64) = (0.0, 2_147_483_647.0);
/// Longer than any pause: nodes stay at their desks.
pub use lightlag_protocols::units::parse::ENDLESS_S;

const PARAMETERS: &[Parameter] = &[
    AREA.optional(),
    SPEED,
    PAUSE,
    Parameter::number("day", "s", 86_400.0, (1.0, 2e9), "Length of a day."),
    Parameter::number(
        "departure_deviation",
        "s",
        7_200.0,
        TIME,
        "Standard deviation of the time at which nodes leave home; each node has its own time.",
    ),
    Parameter::flag("departure_uniform", false, "Nodes leave home at any time of the day instead."),
    Parameter::number("work", "s", 28_800.0, TIME, "Time at the office each day."),
    Parameter::integer(
        "offices",
        50.0,
        (1.0, 1e9),
        "Offices, at the first vertices of the map, where no file lists them; one per vertex at most.",
    ),
    Parameter::number("office_size", "m", 100.0, (0.0, 1e9), "Side of the square of an office."),
    Parameter::range(
        "office_pause",
        "s",
        Some(Bounds::new(10.0, 100_000.0)),
        (0.0, ENDLESS_S),
        "Pause at a desk or elsewhere in the office, Pareto distributed between these.",
    ),
    Parameter::number("office_pareto", "", 0.5, (0.01, 100.0), "Exponent of that distribution."),
    Parameter::number("evening_share", "", 0.5, (0.0, 1.0), "Probability to meet friends after work."),
    Parameter::integer(
        "meeting_spots",
        10.0,
        (1.0, 1e9),
        "Meeting spots, spread over the vertices of the map, where no file lists them; one per vertex at most.",
    ),
    Parameter::range(
        "party",
        "",
        Some(Bounds::new(1.0, 3.0)),
        (0.0, 1e6),
        "How many friends meet, rounded down; the upper end is never reached unless both are equal.",
    ),
    Parameter::range(
        "evening_pause",
        "s",
        Some(Bounds::new(3_600.0, 7_200.0)),
        TIME,
        "Pause at the end of a walk with friends.",
    ),
    Parameter::number("car_share", "", 0.5, (0.0, 1.0), "Probability that a node has a car."),
    Parameter::integer("bus_system", 0.0, SYSTEMS, "Number of the bus system that nodes without a car use."),
    Parameter::integer("evening_system", 0.0, SYSTEMS, "Number of the system in which nodes meet friends."),
];

/// The row of the table. Without `area` the map may lie anywhere.
pub const ENTRY: Entry = Entry {
    model: parameter::Entry {
        name: "working_day",
        paper: "Ekman, Keränen, Karvo and Ott, Working day movement model (2008)",
        parameters: PARAMETERS,
        only_with: &[],
        build: |parameters, context: GroupContext| Box::new(WorkingDay::new(parameters, context)),
    },
    inputs: &[Input::Map, Input::Places(&["homes", "office_places", "meeting_places"])],
    check: |_| Ok(()),
    pace,
};

/// On roads that bend every metre, or from desk to desk without a pause, whichever takes more legs. Nodes meet above all
/// in their offices, where they are for a third of the day.
fn pace(parameters: &Parameters) -> Pace {
    let on_roads = on_map::pace(parameters);
    let number = |name| parameters.number(name);
    let size_m = number("office_size");
    let indoors_s = (parameters.range("office_pause").low + size_m / 3.0).max(0.5);
    let speed = on_roads.speed_m_per_s;
    let legs = (2.0 / indoors_s / speed.max(0.1)).max(1.0);
    // A radio reaches beyond a small office: there are hardly more contacts than in one of 100 m.
    let office_m2 = size_m.max(100.0) * size_m.max(100.0);
    let Area { width_m, height_m } = on_roads.area;
    let share = (number("work") / number("day")).min(1.0);
    // Half of all pauses are longer than four times the shortest, with the exponent of The ONE's settings.
    let walk_s = size_m / 3.0 + 0.1;
    let moving = walk_s / (walk_s + 4.0 * parameters.range("office_pause").low);
    let indoors = moving / speed.max(0.1);
    let crowding = 1.0 + indoors * share * width_m * height_m / (number("offices") * office_m2);
    Pace { legs, crowding, ..on_roads }
}

/// Working day movement (Ekman, Keränen, Karvo and Ott 2008), as The ONE has it.
///
/// Each node has a home, an office with a desk, a meeting spot, and perhaps a car. It leaves home once a day at its own
/// time, works, perhaps meets friends and walks with them, and goes home. With a car it takes the shortest path at its
/// own speed; without one it takes the bus where that saves walking, and walks the rest.
#[derive(Clone, Debug)]
pub struct WorkingDay {
    map: Arc<RoadMap>,
    area: Area,
    /// Layers for cars and for walks with friends.
    layers: u32,
    speed_m_per_s: Bounds<f64>,
    /// Rest at the end of each trip by car.
    pause_s: Bounds<f64>,
    car_share: f64,
    evening_share: f64,
    bus_system: u32,
    home: home::Rules,
    office: office::Rules,
    evening: evening::Rules,
}

impl WorkingDay {
    fn new(parameters: &Parameters, context: GroupContext) -> Self {
        let map = on_map::map(context.map);
        let mut places = context.places;
        let mut listed = |name| places.remove(name).unwrap_or_default();
        Self {
            home: home::Rules::new(parameters, listed("homes")),
            office: office::Rules::new(parameters, listed("office_places")),
            evening: evening::Rules::new(parameters, listed("meeting_places"), &map),
            area: on_map::area(parameters, &map),
            layers: context.layers,
            speed_m_per_s: parameters.range("speed"),
            pause_s: parameters.range("pause"),
            car_share: parameters.number("car_share"),
            evening_share: parameters.number("evening_share"),
            bus_system: parameters.number("bus_system") as u32,
            map,
        }
    }
    /// What a new node draws, in the order of The ONE: office, home, whether it has a car.
    fn draw_places(&self, draw: &mut dyn Draw) -> (Office, Home, bool) {
        let office = Office::new(&self.office, self, draw);
        let home = Home::new(&self.home, self, draw);
        (office, home, draw.unit() < self.car_share)
    }
    /// A place within a square of this side around a point, and within the world.
    fn within_square(&self, middle: Point, [x, y]: [f64; 2]) -> Point {
        let into = |place: f64, side: f64| if place > side { side } else { place.max(0.0) };
        Point::new(into(middle.x + x, self.area.width_m), into(middle.y + y, self.area.height_m))
    }
    /// Appends the shortest path over all layers.
    fn walk(&self, from: u32, to: u32, path: &mut Vec<Point>) {
        // `check` has found the map to be in one part.
        let _ = self.map.shortest_path(from, to, u32::MAX, path);
    }
}

impl Model for WorkingDay {
    fn check(&self, _count: u32) -> Result<(), MobilityError> {
        on_map::check(&self.map, self.area, self.layers, self.speed_m_per_s, self.pause_s)
    }
    fn bounds(&self) -> (Point, Point) {
        super::corners(self.area)
    }
    fn shared(&self) -> Option<&dyn Shared> {
        Some(self)
    }
}

impl Shared for WorkingDay {
    fn announce(&self, systems: &mut Systems) {
        systems.set_spots(self.evening.system, &self.evening.spots);
    }
    fn prototype(&self, systems: &mut Systems, draw: Option<&mut dyn Draw>) {
        if let Some(draw) = draw {
            self.draw_places(draw);
        }
        systems.evening_member();
    }
    fn join(
        &self,
        node: u32,
        _index: u32,
        systems: &mut Systems,
        draw: &mut dyn Draw,
    ) -> (Box<dyn Member>, Begin) {
        let (office, home, has_car) = self.draw_places(draw);
        let passenger = systems.add_passenger(self.bus_system, node, Arc::default());
        let evening = Evening::new(node, systems.evening_member());
        let at = self.map.point(home.vertex);
        let car = has_car.then_some(Car { at: home.vertex, trip: [home.vertex; 2] });
        let doing = Doing::AtHome;
        let rules = Arc::new(self.clone());
        let worker = Worker { rules, home, office, evening, car, passenger, doing, has_begun: false };
        (Box::new(worker), Begin::at_rest(at, 0.0))
    }
}

/// A node.
#[derive(Debug)]
struct Worker {
    rules: Arc<WorkingDay>,
    home: Home,
    office: Office,
    evening: Evening,
    car: Option<Car>,
    /// Its number in the bus system.
    passenger: u32,
    doing: Doing,
    has_begun: bool,
}

#[derive(Debug)]
struct Car {
    /// The vertex where it is left.
    at: u32,
    trip: [u32; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    AtHome,
    AtWork,
    WithFriends,
    /// Under way to one of the others.
    ToHome,
    ToWork,
    ToFriends,
}

impl Worker {
    fn is_ready(&self, systems: &mut Systems) -> bool {
        match self.doing {
            Doing::AtHome => self.home.is_ready(),
            Doing::AtWork => self.office.is_ready(),
            Doing::WithFriends => self.evening.is_ready(),
            _ if self.car.is_some() => true,
            _ => systems.passenger_is_free(self.rules.bus_system, self.passenger),
        }
    }
    /// The vertex where the last journey of what it does ends.
    fn at(&self, systems: &mut Systems) -> u32 {
        match (self.doing, &self.car) {
            (Doing::AtHome, _) => self.home.vertex,
            (Doing::AtWork, _) => self.office.vertex,
            (Doing::WithFriends, _) => self.evening.at,
            (_, Some(car)) => car.at,
            _ => systems.passenger_at(self.rules.bus_system, self.passenger).unwrap_or(self.home.vertex),
        }
    }
    fn send(&mut self, doing: Doing, trip: [u32; 2], turn: &mut Turn) {
        let at = self.at(turn.systems);
        match &mut self.car {
            Some(car) => *car = Car { at, trip },
            None => {
                let rules = &self.rules;
                turn.systems.send_passenger(rules.bus_system, self.passenger, at, trip, &rules.map);
            }
        }
        self.doing = doing;
    }
    fn decide(&mut self, turn: &mut Turn) {
        let (home, office) = (self.home.vertex, self.office.vertex);
        match self.doing {
            Doing::AtHome => self.send(Doing::ToWork, [home, office], turn),
            Doing::AtWork => {
                let meets = self.rules.evening_share > turn.draw.unit();
                let spot = meets.then(|| self.evening.plan(&self.rules.evening, turn)).flatten();
                match spot {
                    Some(spot) => self.send(Doing::ToFriends, [office, spot], turn),
                    None => self.send(Doing::ToHome, [office, home], turn),
                }
            }
            Doing::WithFriends => self.send(Doing::ToHome, [self.evening.at, home], turn),
            Doing::ToHome => {
                self.home.enter(self.at(turn.systems));
                self.doing = Doing::AtHome;
            }
            Doing::ToWork => {
                self.office.enter(self.at(turn.systems));
                self.doing = Doing::AtWork;
            }
            Doing::ToFriends => {
                self.evening.enter(self.at(turn.systems));
                self.doing = Doing::WithFriends;
            }
        }
    }
}

impl Member for Worker {
    fn depart(&mut self, turn: &mut Turn, path: &mut Vec<Point>) -> Going {
        if self.has_begun && self.is_ready(turn.systems) {
            self.decide(turn);
        }
        self.has_begun = true;
        let rules = &*self.rules;
        match (self.doing, &mut self.car) {
            (Doing::AtHome, _) => self.home.depart(rules, turn, path),
            (Doing::AtWork, _) => self.office.depart(rules, turn, path),
            (Doing::WithFriends, _) => self.evening.depart(rules, turn, path),
            (_, Some(car)) => {
                let speed = turn.draw.within(rules.speed_m_per_s);
                let [from, to] = car.trip;
                // Where the layers do not join both, it believes to have arrived, as in The ONE.
                let _ = rules.map.shortest_path(from, to, rules.layers, path);
                car.at = to;
                Going::Go(speed)
            }
            _ => {
                let (system, speed) = (rules.bus_system, rules.speed_m_per_s);
                Systems::passenger_departs(system, self.passenger, speed, &rules.map, turn, path)
            }
        }
    }
    fn pause_s(&mut self, turn: &mut Turn) -> f64 {
        let rules = &*self.rules;
        match (self.doing, &self.car) {
            (Doing::AtHome, _) => self.home.pause_s(&rules.home, turn),
            (Doing::AtWork, _) => self.office.pause_s(&rules.office, turn),
            (Doing::WithFriends, _) => self.evening.pause_s(),
            (_, Some(_)) => turn.draw.within(rules.pause_s),
            _ => {
                turn.systems.passenger_arrives(rules.bus_system, self.passenger);
                0.0
            }
        }
    }
}
