//! The same in JavaScript's types. An error is thrown as an `Error` whose `faults` lists what is wrong: file, line, column,
//! end_column, what, right.
#![allow(unsafe_code, reason = "wasm-bindgen writes the calling convention")]

use crate::columns::{Batch, Cells};
use crate::{Faults, Playing, Purpose, Reading};
use js_sys::{
    Array, BigInt64Array, Error, Float32Array, Float64Array, JSON, Object, Reflect, Uint8Array, Uint32Array,
};
use lightlag_protocols::time::Duration;
use lightlag_scenario::GivenFiles;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(text: &str);
}

/// Writes why it stops to the console: a trap alone does not say.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|why| console_error(&why.to_string())));
}

/// Version of Lightlag.
#[wasm_bindgen]
pub fn version() -> String {
    lightlag_lab::VERSION.to_owned()
}

/// The JSON Schema of scenarios, for completion.
#[wasm_bindgen]
pub fn schema() -> String {
    lightlag_scenario::schema(&lightlag_scenario::Catalogue::default()).to_string()
}

/// What a scenario describes, as JSON: its `points`, `seeds` and `warnings`. `files`: bytes by name.
#[wasm_bindgen]
pub fn check(text: &str, files: Option<Object>) -> Result<String, JsValue> {
    reading(text, files.as_ref(), None)?.points().map_err(thrown)
}

/// Runs a scenario to its end and returns as JSON its figures, violations and the digest of its records. `seed`: the first of
/// the scenario's by default; `files`: bytes by name; `point`: which experiment of a sweep; `set`: values by key; `digest`: false
/// leaves it out, as it may take as long as the run.
#[wasm_bindgen]
pub fn run(
    text: &str,
    seed: Option<f64>,
    files: Option<Object>,
    point: Option<u32>,
    set: Option<Object>,
    digest: Option<bool>,
) -> Result<String, JsValue> {
    let reading = reading(text, files.as_ref(), set.as_ref())?;
    reading.run(whole(seed)?, point.unwrap_or(0) as usize, digest.unwrap_or(true)).map_err(thrown)
}

/// The map on which the nodes of a scenario move, arguments as of `run`: `{ points, count, is_y_down, is_osm }`. `points` has x and
/// y of the points of lines in metres, as positions; NaN and NaN end a line. It is empty without a map, or above a million points.
#[wasm_bindgen]
pub fn streets(
    text: &str,
    files: Option<Object>,
    point: Option<u32>,
    set: Option<Object>,
) -> Result<Object, JsValue> {
    let reading = reading(text, files.as_ref(), set.as_ref())?;
    let streets = reading.streets(point.unwrap_or(0) as usize).map_err(thrown)?;
    let object = Object::new();
    put(&object, "points", &Float32Array::from(&streets.points[..]));
    put(&object, "count", &JsValue::from_f64(streets.count as f64));
    put(&object, "is_y_down", &streets.is_y_down.into());
    put(&object, "is_osm", &streets.is_osm.into());
    Ok(object)
}

/// A run that is played step by step.
#[wasm_bindgen]
pub struct World(pub(crate) Playing);

#[wasm_bindgen]
impl World {
    /// A world at time zero; arguments as of `run`. `positions`: whether nodes that move have positions in the records though the
    /// scenario does not ask for them.
    #[wasm_bindgen(constructor)]
    pub fn new(
        text: &str,
        seed: Option<f64>,
        files: Option<Object>,
        point: Option<u32>,
        set: Option<Object>,
        positions: Option<bool>,
    ) -> Result<Self, JsValue> {
        let reading = reading(text, files.as_ref(), set.as_ref())?;
        let (seed, point) = (whole(seed)?, point.unwrap_or(0) as usize);
        let purpose = if positions == Some(true) { Purpose::Drawing } else { Purpose::Records };
        reading.play(seed, point, purpose).map(Self).map_err(thrown)
    }
    /// Runs on for some seconds; false once the run has ended.
    pub fn advance(&mut self, seconds: f64) -> bool {
        self.0.advance(Duration::from_secs_f64(if seconds.is_finite() { seconds.max(0.0) } else { 0.0 }))
    }
    /// Until when it has run, in seconds.
    #[wasm_bindgen(getter)]
    pub fn time(&self) -> f64 {
        self.0.now().as_secs_f64()
    }
    /// When it ends at the latest, in seconds.
    #[wasm_bindgen(getter)]
    pub fn duration(&self) -> f64 {
        self.0.until().as_secs_f64()
    }
    /// Names of what records refer to by number, as JSON.
    pub fn names(&self) -> String {
        self.0.names()
    }
    /// What has happened since the last call: `{ rows, columns, texts }`. `columns` has a typed array for each column that is not
    /// empty. A `Uint32Array` has 4294967295 for nothing, a `Float64Array` NaN, a `Uint8Array` of flags 255. `kind` and other
    /// texts are numbers of texts; `texts` lists those that no call before has listed.
    pub fn records(&mut self) -> Object {
        object(&self.0.records())
    }
    /// From now on, `records` gives these columns only; there is no digest then, which takes most of the time of a row.
    pub fn choose(&mut self, columns: Vec<String>) {
        self.0.choose(&columns);
    }
    /// The digest of all records so far; nothing after `choose`.
    pub fn digest(&mut self) -> Option<String> {
        self.0.digest()
    }
    /// The figures so far, as JSON.
    pub fn figures(&mut self) -> String {
        self.0.figures().json()
    }
}

fn object(batch: &Batch) -> Object {
    let columns = Object::new();
    for column in &batch.columns {
        let cells: JsValue = match &column.cells {
            Cells::Whole(cells) | Cells::Texts(cells) => Uint32Array::from(&cells[..]).into(),
            Cells::Real(cells) => Float64Array::from(&cells[..]).into(),
            Cells::Wide(cells) => BigInt64Array::from(&cells[..]).into(),
            Cells::Flags(cells) => Uint8Array::from(&cells[..]).into(),
        };
        put(&columns, column.name, &cells);
    }
    let texts: Array = batch.texts.iter().map(|text| JsValue::from_str(text)).collect();
    let object = Object::new();
    put(&object, "rows", &JsValue::from_f64(batch.rows as f64));
    put(&object, "columns", &columns);
    put(&object, "texts", &texts);
    object
}

fn put(object: &Object, key: &str, value: &JsValue) {
    // A new object takes any property.
    let _ = Reflect::set(object, &key.into(), value);
}

pub(crate) fn thrown(faults: Faults) -> JsValue {
    let error = Error::new(&faults.text());
    put(&error, "faults", &JSON::parse(&faults.json()).unwrap_or_default());
    error.into()
}

/// A seed as JavaScript has it.
pub(crate) fn whole(seed: Option<f64>) -> Result<Option<u64>, JsValue> {
    const MOST: f64 = 9_007_199_254_740_991.0;
    match seed {
        Some(seed) if seed.fract() != 0.0 || !(0.0..=MOST).contains(&seed) => {
            Err(thrown(Faults::of(&format!("the seed is {seed}"), "give a whole number from 0 to 2^53 - 1")))
        }
        seed => Ok(seed.map(|seed| seed as u64)),
    }
}

pub(crate) fn reading(text: &str, files: Option<&Object>, set: Option<&Object>) -> Result<Reading, JsValue> {
    let entries = |object: Option<&Object>| object.map_or_else(Array::new, Object::entries);
    let pairs = |object: Option<&Object>| {
        let of = |pair: JsValue| {
            let pair = Array::from(&pair);
            (pair.get(0).as_string().unwrap_or_default(), pair.get(1))
        };
        entries(object).iter().map(of).collect::<Vec<_>>()
    };
    let bytes = |(name, value): (String, JsValue)| match value.dyn_into::<Uint8Array>() {
        Ok(bytes) => Ok((name, bytes.to_vec())),
        Err(other) => match other.as_string() {
            Some(text) => Ok((name, text.into_bytes())),
            None => Err(thrown(Faults::of(
                &format!("the file `{name}` has no bytes"),
                "give a Uint8Array or a text",
            ))),
        },
    };
    let files = pairs(files).into_iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
    let set = pairs(set).into_iter().map(|(key, value)| {
        let text =
            value.as_string().or_else(|| JSON::stringify(&value).ok().and_then(|text| text.as_string()));
        (key, text.unwrap_or_default())
    });
    Ok(Reading { files: GivenFiles::new(files), set: set.collect(), ..Reading::new("scenario.toml", text) })
}
