//! Each text once, with a number.

use std::collections::HashMap;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Pool {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
}

impl Pool {
    /// The number of a text.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let (number, text) = (self.texts.len() as u32, Arc::<str>::from(text));
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// The text with that number.
    pub(super) fn text(&self, number: u32) -> &Arc<str> {
        &self.texts[number as usize]
    }

    /// The number here of each number there.
    pub(super) fn take_in(&mut self, other: &Pool) -> Vec<u32> {
        other.texts.iter().map(|text| self.number(text)).collect()
    }
}
