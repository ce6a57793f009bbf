//! Values as bytes: little-endian numbers, lengths before contents.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Something that can be part of a message.
pub trait Field: Sized {
    /// Appends it.
    fn put(&self, out: &mut Vec<u8>);
    /// Takes it from the front; `None`: the bytes are something else.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

/// Bytes that are passed on as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bytes(pub Vec<u8>);

macro_rules! numbers {
    ($($type:ty)*) => {$(
        impl Field for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                let (head, tail) = from.split_first_chunk()?;
                *from = tail;
                Some(Self::from_le_bytes(*head))
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i32 i64);

impl Field for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        u8::take(from).map(|byte| byte != 0)
    }
}

impl<T: Field> Field for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        T::take(from).map(Box::new)
    }
}

impl Field for Bytes {
    fn put(&self, out: &mut Vec<u8>) {
        (self.0.len() as u32).put(out);
        out.extend(&self.0);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = u32::take(from)? as usize;
        let (head, tail) = from.split_at_checked(length)?;
        *from = tail;
        Some(Self(head.to_vec()))
    }
}

impl Field for String {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend(self.as_bytes());
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Self::from_utf8(Bytes::take(from)?.0).ok()
    }
}

impl Field for OsString {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        out.extend(self.as_bytes());
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self::from_vec(Bytes::take(from)?.0))
    }
}

impl<T: Field> Field for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        self.iter().for_each(|value| value.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        if bool::take(from)? { T::take(from).map(Some) } else { Some(None) }
    }
}

impl<T: Field> Field for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|value| value.put(out));
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        let count = u32::take(from)?;
        // Not reserved in advance: the number may be nonsense.
        (0..count).map(|_| T::take(from)).collect()
    }
}

impl<A: Field, B: Field> Field for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

/// Makes an enum of messages, or a struct of fields, that is a [`Field`].
macro_rules! packed {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        pub struct $name { $($(#[$doc])* pub $field: $type,)* }
        impl $crate::hosts::pack::Field for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::hosts::pack::Field::put(&self.$field, out);)*
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::hosts::pack::Field::take(from)?,)* })
            }
        }
    };
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $number:literal { $($(#[$inner:meta])* $field:ident: $type:ty,)* })*
    }) => {
        $(#[$about])*
        pub enum $name { $($(#[$doc])* $variant { $($(#[$inner])* $field: $type,)* },)* }
        impl $crate::hosts::pack::Field for $name {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($field,)* } => {
                        out.push($number);
                        $($crate::hosts::pack::Field::put($field, out);)*
                    })*
                }
            }
            fn take(from: &mut &[u8]) -> Option<Self> {
                match <u8 as $crate::hosts::pack::Field>::take(from)? {
                    $($number => Some(Self::$variant { $($field: $crate::hosts::pack::Field::take(from)?,)* }),)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use packed;

#[cfg(test)]
mod tests {
    use super::*;

    packed! {
        #[derive(Debug, Clone, PartialEq)]
        pub enum Sample {
            None = 1 {}
            Some = 2 { a: u32, b: Vec<(String, OsString)>, c: Option<i64>, d: Bytes, e: bool, }
        }
    }

    #[test]
    fn values_survive_the_way() {
        let some = Sample::Some {
            a: 7,
            b: vec![("ü".into(), OsString::from_vec(vec![255]))],
            c: Some(-1),
            d: Bytes(vec![0, 1]),
            e: true,
        };
        for sample in [Sample::None {}, some] {
            let mut bytes = Vec::new();
            sample.put(&mut bytes);
            assert_eq!(Sample::take(&mut bytes.as_slice()), Some(sample));
            for cut in 0..bytes.len() {
                assert_eq!(Sample::take(&mut &bytes[..cut]), None);
            }
        }
        assert_eq!(Sample::take(&mut &[9][..]), None);
        // A length beyond the end, and one that would take all memory.
        assert_eq!(Sample::take(&mut &[2, 0, 0, 0, 0, 255, 255, 255, 255][..]), None);
    }
}
