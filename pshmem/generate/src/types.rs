//! The data types of the specification and the sets of them that its tables define.

/// One data type that a `TYPENAME`, `SIZE` or `mem` routine comes in.
#[derive(Debug, PartialEq)]
pub struct Type {
    /// What stands for `TYPENAME` or `SIZE` in a routine's name.
    pub name: &'static str,
    /// The C type; `void` for the sized and `mem` routines.
    pub c: &'static str,
    /// The type of the Rust signature, from which cbindgen makes the C type again.
    pub rust: &'static str,
    /// The bit-copy type of the same width that the runtime moves.
    pub word: &'static str,
    /// The number type that the runtime computes with; empty where it never does.
    pub number: &'static str,
    /// The C type it is on every system with 64-bit `long`: `_Generic` may name each only once.
    pub base: &'static str,
    /// Bytes an element.
    pub bytes: u8,
}

const fn t(
    name: &'static str,
    c: &'static str,
    rust: &'static str,
    number: &'static str,
    base: &'static str,
    bytes: u8,
) -> Type {
    let word = match bytes {
        1 => "u8",
        2 => "u16",
        4 => "u32",
        8 => "u64",
        _ => "W128",
    };
    Type { name, c, rust, word, number, base, bytes }
}

const FLOAT: Type = t("float", "float", "f32", "f32", "float", 4);
const DOUBLE: Type = t("double", "double", "f64", "f64", "double", 8);
const LONGDOUBLE: Type = t("longdouble", "long double", "LongDouble", "", "long double", 16);
const CHAR: Type = t("char", "char", "c_char", "c_char", "char", 1);
const SCHAR: Type = t("schar", "signed char", "c_schar", "i8", "signed char", 1);
const SHORT: Type = t("short", "short", "c_short", "i16", "short", 2);
const INT: Type = t("int", "int", "c_int", "i32", "int", 4);
const LONG: Type = t("long", "long", "c_long", "i64", "long", 8);
const LONGLONG: Type = t("longlong", "long long", "c_longlong", "i64", "long long", 8);
const UCHAR: Type = t("uchar", "unsigned char", "c_uchar", "u8", "unsigned char", 1);
const USHORT: Type = t("ushort", "unsigned short", "c_ushort", "u16", "unsigned short", 2);
const UINT: Type = t("uint", "unsigned int", "c_uint", "u32", "unsigned int", 4);
const ULONG: Type = t("ulong", "unsigned long", "c_ulong", "u64", "unsigned long", 8);
const ULONGLONG: Type = t("ulonglong", "unsigned long long", "c_ulonglong", "u64", "unsigned long long", 8);
const INT8: Type = t("int8", "int8_t", "i8", "i8", "signed char", 1);
const INT16: Type = t("int16", "int16_t", "i16", "i16", "short", 2);
const INT32: Type = t("int32", "int32_t", "i32", "i32", "int", 4);
const INT64: Type = t("int64", "int64_t", "i64", "i64", "long", 8);
const UINT8: Type = t("uint8", "uint8_t", "u8", "u8", "unsigned char", 1);
const UINT16: Type = t("uint16", "uint16_t", "u16", "u16", "unsigned short", 2);
const UINT32: Type = t("uint32", "uint32_t", "u32", "u32", "unsigned int", 4);
const UINT64: Type = t("uint64", "uint64_t", "u64", "u64", "unsigned long", 8);
const SIZE: Type = t("size", "size_t", "usize", "u64", "unsigned long", 8);
const PTRDIFF: Type = t("ptrdiff", "ptrdiff_t", "isize", "i64", "long", 8);
const COMPLEXD: Type = t("complexd", "double _Complex", "ComplexDouble", "", "double _Complex", 16);
const COMPLEXF: Type = t("complexf", "float _Complex", "ComplexFloat", "", "float _Complex", 8);

const fn untyped(name: &'static str, bytes: u8) -> Type {
    t(name, "void", "c_void", "", "", bytes)
}

/// Routines that exist once, whatever their arguments.
pub const ONCE: &[Type] = &[];
/// `SIZE` of the sized RMA and put-with-signal routines, in bits.
pub const SIZES: &[Type] = &[untyped("8", 1), untyped("16", 2), untyped("32", 4), untyped("64", 8), untyped("128", 16)];
/// `SIZE` of the deprecated active-set collectives, in bits.
pub const SIZES_32_64: &[Type] = &[untyped("32", 4), untyped("64", 8)];
/// The `mem` routines: elements are bytes.
pub const MEM: &[Type] = &[untyped("mem", 1)];

/// Table 5: standard RMA types.
pub const RMA: &[Type] = &[
    FLOAT, DOUBLE, LONGDOUBLE, CHAR, SCHAR, SHORT, INT, LONG, LONGLONG, UCHAR, USHORT, UINT, ULONG, ULONGLONG, INT8,
    INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, SIZE, PTRDIFF,
];
/// Table 7: extended AMO types.
pub const AMO_EXTENDED: &[Type] =
    &[FLOAT, DOUBLE, INT, LONG, LONGLONG, UINT, ULONG, ULONGLONG, INT32, INT64, UINT32, UINT64, SIZE, PTRDIFF];
/// Table 6: standard AMO types.
pub const AMO: &[Type] = &[INT, LONG, LONGLONG, UINT, ULONG, ULONGLONG, INT32, INT64, UINT32, UINT64, SIZE, PTRDIFF];
/// Table 8: bitwise AMO types.
pub const AMO_BITWISE: &[Type] = &[UINT, ULONG, ULONGLONG, INT32, INT64, UINT32, UINT64];
/// Deprecated AMOs that fetch, set or swap.
pub const AMO_EXTENDED_OLD: &[Type] = &[FLOAT, DOUBLE, INT, LONG, LONGLONG];
/// The other deprecated AMOs.
pub const AMO_OLD: &[Type] = &[INT, LONG, LONGLONG];
/// Table 12: point-to-point synchronization types.
pub const SYNC: &[Type] = AMO;
/// Types that `wait_until` and `test` have only for old programs.
pub const SYNC_OLD: &[Type] = &[SHORT, USHORT];
/// Types of the deprecated `shmem_TYPENAME_wait`.
pub const WAIT_OLD: &[Type] = &[SHORT, INT, LONG, LONGLONG];
/// Table 10: team reductions: AND, OR, XOR.
pub const REDUCE_BITWISE: &[Type] =
    &[UCHAR, USHORT, UINT, ULONG, ULONGLONG, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, SIZE];
/// Table 10: team reductions: MAX, MIN.
pub const REDUCE_ORDERED: &[Type] = &[
    CHAR, SCHAR, SHORT, INT, LONG, LONGLONG, PTRDIFF, UCHAR, USHORT, UINT, ULONG, ULONGLONG, INT8, INT16, INT32, INT64,
    UINT8, UINT16, UINT32, UINT64, SIZE, FLOAT, DOUBLE, LONGDOUBLE,
];
/// Table 10: team reductions, and scans: SUM, PROD.
pub const REDUCE_ARITHMETIC: &[Type] = &[
    CHAR, SCHAR, SHORT, INT, LONG, LONGLONG, PTRDIFF, UCHAR, USHORT, UINT, ULONG, ULONGLONG, INT8, INT16, INT32, INT64,
    UINT8, UINT16, UINT32, UINT64, SIZE, FLOAT, DOUBLE, LONGDOUBLE, COMPLEXD, COMPLEXF,
];
/// Table 11: active-set reductions: AND, OR, XOR.
pub const TO_ALL_BITWISE: &[Type] = &[SHORT, INT, LONG, LONGLONG];
/// Table 11: active-set reductions: MAX, MIN.
pub const TO_ALL_ORDERED: &[Type] = &[SHORT, INT, LONG, LONGLONG, FLOAT, DOUBLE, LONGDOUBLE];
/// Table 11: active-set reductions: SUM, PROD.
pub const TO_ALL_ARITHMETIC: &[Type] = &[SHORT, INT, LONG, LONGLONG, FLOAT, DOUBLE, LONGDOUBLE, COMPLEXD, COMPLEXF];
