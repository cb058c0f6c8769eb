//! All errors of a scenario that the declarations of its keys show: unknown keys, and values of another kind than declared.
//!
//! A reader stops at its first error. What a declaration shows is wrong by itself, whatever else is wrong.

use super::algorithm::{algorithm, of_model};
use super::declared;
use super::section::{Section, flag, quantity, real, whole, word};
use crate::catalogue::Catalogue;
use crate::error::{Error, Result};
use crate::keys::{self, Key, Kind};
use crate::models::Models;
use crate::tree::{Node, Value};

/// The errors, in the order of the text. The tree may have axes and references.
pub fn errors(tree: &Node, catalogue: &Catalogue) -> Vec<Error> {
    let mut check = Check { catalogue, found: Vec::new() };
    if let Ok(open) = Section::open(tree, "") {
        check.section(&open, declared(&open), &[]);
    }
    check.found
}

struct Check<'c> {
    catalogue: &'c Catalogue,
    found: Vec<Error>,
}

impl Check<'_> {
    fn section(&mut self, section: &Section, keys: &[Key], others: &[&str]) {
        let known: Vec<&str> = keys::names(keys).into_iter().chain(others.iter().copied()).collect();
        self.found.extend(section.unknown(&known));
        for key in keys {
            if let Some(node) = section.get(key.name) {
                self.value(node, &section.key(key.name), key.kind);
            }
        }
    }
    fn open<'t>(&mut self, node: &'t Node, path: &str) -> Option<Section<'t>> {
        let opened = Section::open(node, path);
        opened.map_err(|error| self.found.push(error)).ok()
    }
    fn keep<T>(&mut self, result: Result<T>) {
        self.found.extend(result.err());
    }
    fn value(&mut self, node: &Node, path: &str, kind: Kind) {
        match kind {
            Kind::List(_) | Kind::Any(_) => self.single(node, path, kind),
            _ => self.each(node, &|check, item| check.single(item, path, kind)),
        }
    }
    /// A value or the values of an axis, but for references.
    fn each(&mut self, node: &Node, see: &dyn Fn(&mut Self, &Node)) {
        match &node.value {
            Value::Text(text) if text.starts_with('$') => {}
            Value::List(axis) => axis.iter().for_each(|item| self.each(item, see)),
            _ => see(self, node),
        }
    }
    fn single(&mut self, node: &Node, path: &str, kind: Kind) {
        match kind {
            // What a text may hold its reader knows.
            Kind::Text | Kind::Open => {}
            Kind::Flag => self.keep(flag(node, path)),
            Kind::Whole(low, high) => self.keep(whole(node, path, low, high)),
            Kind::Real(low, high) => self.keep(real(node, path, low, high)),
            Kind::Quantity(of) => self.keep(quantity(node, path, of.check)),
            Kind::Word(words) => self.keep(word(node, path, words)),
            Kind::Algorithm(kind) => self.algorithm(node, path, kind),
            Kind::Model(models) => self.model(node, path, models),
            Kind::Table(keys) => {
                if let Some(section) = self.open(node, path) {
                    self.section(&section, keys, &[]);
                }
            }
            Kind::Named(keys) => {
                for (name, node) in self.open(node, path).iter().flat_map(Section::entries) {
                    self.value(node, &format!("{path}.{}", name.name), Kind::Table(keys));
                }
            }
            Kind::List(of) => {
                if let Value::List(items) = &node.value {
                    items.iter().for_each(|item| self.value(item, path, *of));
                }
            }
            Kind::Any(kinds) => self.any(node, path, kinds),
        }
    }
    /// Of several kinds, those that have the form of the value.
    fn any(&mut self, node: &Node, path: &str, kinds: &[Kind]) {
        let has_form = |kind: &&Kind| match &node.value {
            Value::Table(_) => matches!(kind, Kind::Table(_) | Kind::Model(_)),
            Value::List(_) => matches!(kind, Kind::List(_)),
            Value::Text(text) if text.starts_with('$') => false,
            _ => !matches!(kind, Kind::Table(_) | Kind::Model(_) | Kind::List(_)),
        };
        if let Some(kind) = kinds.iter().find(has_form) {
            self.single(node, path, *kind);
        } else if let Value::List(axis) = &node.value {
            axis.iter().for_each(|item| self.any(item, path, kinds));
        }
    }
    /// One whose table has axes or references is left to its reader.
    fn algorithm(&mut self, node: &Node, path: &str, kind: &str) {
        let is_open = |node: &Node| match &node.value {
            Value::Text(text) => text.starts_with('$'),
            value => matches!(value, Value::List(_)),
        };
        if matches!(&node.value, Value::Table(entries) if entries.iter().any(|(_, node)| is_open(node))) {
            return;
        }
        match kind {
            "router" => self.keep(algorithm(node, path, &self.catalogue.routers)),
            "mechanism" => self.keep(algorithm(node, path, &self.catalogue.mechanisms)),
            _ => self.keep(algorithm(node, path, &self.catalogue.controllers)),
        }
    }
    /// The model that a table names, and what belongs to it.
    fn model(&mut self, node: &Node, path: &str, models: &Models) {
        let Some(section) = self.open(node, path) else { return };
        let Some(named) = section.get(models.key).filter(|named| matches!(named.value, Value::Text(_)))
        else {
            return;
        };
        let rows = (models.rows)();
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        let row = match word(named, &section.key(models.key), &names) {
            Ok(chosen) => rows[chosen],
            Err(error) => return self.found.push(error),
        };
        let parameters = row.parameters.iter().map(|p| p.name);
        self.section(&section, row.keys, &[models.key].into_iter().chain(parameters).collect::<Vec<_>>());
        for p in row.parameters {
            if let Some(node) = section.get(p.name) {
                self.each(node, &|check, item| check.keep(of_model(item, &section.key(p.name), p)));
            }
        }
    }
}

#[cfg(test)]
#[path = "check_tests.rs"]
mod tests;
