//! Values of options. What is wrong with one is said with the option's name, also where it is no text.

use std::ffi::{OsStr, OsString};

use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, Command, Error, ValueEnum};

/// A value that a function understands, as it was given.
pub fn parsed<T: Clone + Send + Sync + 'static>(parse: Understand<T>) -> ValueParser {
    ValueParser::new(OsStringValueParser::new().try_map(move |value| parse(&value)))
}

/// A value that a function understands, which is to be text.
pub fn text<T: Clone + Send + Sync + 'static>(parse: fn(&str) -> Result<T, String>) -> ValueParser {
    let to_text = |value: OsString| value.into_string().map_err(|_| "not valid text".to_owned());
    ValueParser::new(OsStringValueParser::new().try_map(move |value| parse(&to_text(value)?)))
}

/// Any text.
pub fn string() -> ValueParser {
    text(|text| Ok(text.to_owned()))
}

/// What is made of the name of a file, which may be anything.
pub fn file<T: Clone + Send + Sync + 'static>(make: fn(OsString) -> T) -> ValueParser {
    ValueParser::new(OsStringValueParser::new().map(make))
}

/// What understands a value. Error: what is wrong with it.
type Understand<T> = fn(&OsStr) -> Result<T, String>;

/// Words and what each stands for. They are in help, manual and completion, and the nearest one is in what is said of a
/// word that is not among them.
#[derive(Clone)]
pub struct Words<T> {
    rows: Vec<(PossibleValue, T)>,
    other: Option<Understand<T>>,
}

impl<T: Clone + Send + Sync + 'static> Words<T> {
    /// These.
    pub fn new(rows: Vec<(PossibleValue, T)>) -> Words<T> {
        Words { rows, other: None }
    }

    /// These, by their names.
    pub fn named(rows: impl IntoIterator<Item = (&'static str, T)>) -> Words<T> {
        Words::new(rows.into_iter().map(|(name, value)| (PossibleValue::new(name), value)).collect())
    }

    /// Every one of an enumeration.
    pub fn all() -> Words<T>
    where
        T: ValueEnum,
    {
        let row = |value: &T| Some((value.to_possible_value()?, value.clone()));
        Words::new(T::value_variants().iter().filter_map(row).collect())
    }

    /// These, and what a function understands.
    pub fn or(self, other: Understand<T>) -> Words<T> {
        Words { other: Some(other), ..self }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Words<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, option: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let known = value.to_str().and_then(|name| self.rows.iter().find(|(word, _)| word.matches(name, false)));
        match (known, self.other) {
            (Some((_, value)), _) => Ok(value.clone()),
            (None, Some(other)) => {
                OsStringValueParser::new().try_map(move |value| other(&value)).parse_ref(command, option, value)
            }
            (None, None) => {
                let words = PossibleValuesParser::new(self.rows.iter().map(|(word, _)| word.clone()));
                let shown = value.to_string_lossy();
                let wrong = words.parse_ref(command, option, OsStr::new(shown.as_ref())).err();
                Err(wrong.unwrap_or_else(|| Error::new(clap::error::ErrorKind::InvalidValue).with_cmd(command)))
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.rows.iter().map(|(word, _)| word.clone())))
    }
}
