//! Models that a table of a scenario names, such as `{ model = "uniform", share = 0.01 }`: the rows of the tables of
//! mobility models, loss models and queue disciplines, as readers and the schema need them.

use crate::keys::{self, Key};
use lightlag_protocols::dtn::Parameter;
use lightlag_protocols::link::{losses, queues};
use lightlag_protocols::parameter;
use lightlag_worlds::mobility::{self, Input};

/// All models of a kind.
#[derive(Debug)]
pub struct Models {
    /// What they are.
    pub kind: &'static str,
    /// The key that holds a model's name.
    pub key: &'static str,
    /// A name, as an error shows it where the key is missing.
    pub example: &'static str,
    /// The models, in the order of their table.
    pub rows: fn() -> Vec<Model>,
}

/// What a table may hold beside the name of a model.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// The name.
    pub name: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Other keys.
    pub keys: &'static [Key],
}

impl Model {
    const fn of<A: ?Sized, S>(row: &parameter::Entry<A, S>, keys: &'static [Key]) -> Self {
        Self { name: row.name, paper: row.paper, parameters: row.parameters, keys }
    }
}

/// Mobility models.
pub const MOBILITY: Models = Models {
    kind: "mobility model",
    key: "model",
    example: "random_waypoint",
    rows: || {
        let keys = |row: &mobility::Entry| match row.inputs {
            [] => &[],
            [Input::Map] => keys::MAP,
            [Input::Map, Input::Routes] => keys::MAP_AND_ROUTES,
            [Input::Map, Input::PointsOfInterest] => keys::MAP_AND_INTEREST,
            [Input::Tracks] => keys::TRACKS,
            [Input::Map, Input::Places(_)] => keys::MAP_AND_DAY,
            [Input::Map, Input::Chances] => keys::MAP_AND_CHANCES,
            inputs => unreachable!("no keys are declared for {inputs:?}"),
        };
        mobility::TABLE.iter().map(|row| Model::of(&row.model, keys(row))).collect()
    },
};

/// Loss models.
pub const LOSSES: Models = Models {
    kind: "loss model",
    key: "model",
    example: "gilbert_elliott",
    rows: || {
        let keys = |row: &losses::Entry| if row.over_time { keys::SHARES } else { &[] };
        losses::TABLE.iter().map(|row| Model::of(&row.model, keys(row))).collect()
    },
};

/// Queue disciplines.
pub const QUEUES: Models = Models {
    kind: "queue",
    key: "discipline",
    example: "codel",
    rows: || {
        let of = |row: &queues::Entry<_>| {
            let queues::Entry { name, paper, parameters, .. } = *row;
            Model { name, paper, parameters, keys: keys::LIMIT }
        };
        queues::TABLE.iter().map(of).collect()
    },
};
