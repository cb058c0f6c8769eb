//! A run as a table to save: all of its columns, with names, every number exact.
#![allow(unsafe_code, reason = "wasm-bindgen writes the calling convention")]

use crate::Purpose;
use crate::page::{World, reading, thrown, whole};
use js_sys::Object;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl World {
    /// A world at time zero; arguments as of the constructor. Its `records` have names, and numbers of 64 bits as a
    /// `BigInt64Array`, unsigned ones by their bits and -2^63 for nothing.
    pub fn exact(
        text: &str,
        seed: Option<f64>,
        files: Option<Object>,
        point: Option<u32>,
        set: Option<Object>,
    ) -> Result<Self, JsValue> {
        let reading = reading(text, files.as_ref(), set.as_ref())?;
        let (seed, point) = (whole(seed)?, point.unwrap_or(0) as usize);
        reading.play(seed, point, Purpose::Table).map(Self).map_err(thrown)
    }
    /// All columns of the trace in their order, as JSON: `name`, `type`, `optional`.
    pub fn columns(&self) -> String {
        self.0.columns()
    }
}
