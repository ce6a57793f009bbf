//! The operation of a routine: its template in the API table. 217 of them stand for 1,788 routines.

/// Names of types in routine names (Tables 3 to 13 of the specification).
const TYPES: [&str; 26] = [
    "float",
    "double",
    "longdouble",
    "char",
    "schar",
    "short",
    "int",
    "long",
    "longlong",
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "ulonglong",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "size",
    "ptrdiff",
    "complexd",
    "complexf",
];
/// Routines that have the bits of an element in their name.
const SIZED: [&str; 11] =
    ["put", "get", "iput", "iget", "ibput", "ibget", "alltoall", "alltoalls", "broadcast", "collect", "fcollect"];

/// `shmem_ctx_uint_put_nbi`: `ctx_put_nbi`; `shmem_put64`: `putSIZE`.
pub fn template(routine: &str) -> String {
    let name = routine.strip_prefix("shmem_").unwrap_or(routine);
    let (context, name) = name.strip_prefix("ctx_").map_or(("", name), |rest| ("ctx_", rest));
    if let Some((first, rest)) = name.split_once('_')
        && TYPES.contains(&first)
    {
        return format!("{context}{rest}");
    }
    let (first, rest) = name.split_at(name.find('_').unwrap_or(name.len()));
    let plain = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let sized = plain.len() < first.len() && SIZED.contains(&plain);
    if sized { format!("{context}{plain}SIZE{rest}") } else { format!("{context}{name}") }
}

#[cfg(test)]
mod tests {
    use super::template;

    /// Against the API table that the project's generator is tested with.
    #[test]
    fn every_routine_has_its_template() {
        let table = include_str!("../../../../tests/tables/api-1.6.csv");
        let mut lines = table.lines();
        let title: Vec<&str> = lines.next().unwrap().split(',').collect();
        let from_end = title.len() - title.iter().position(|name| *name == "template").unwrap();
        let mut routines = 0;
        for line in lines.filter(|line| line.contains("shmem")) {
            // Quoted parameters have commas; what follows them has none but for the note.
            let name = line.split(',').next().unwrap();
            let templates: Vec<&str> = line.split(',').filter(|field| is_template(field, name)).collect();
            let Some(wanted) = templates.last() else { panic!("{line} ({from_end})") };
            let wanted = wanted.strip_prefix("shmem_").unwrap_or(wanted).replace("TYPENAME_", "");
            assert_eq!(template(name), wanted, "{name}");
            routines += 1;
        }
        assert!(routines > 1700, "{routines}");
    }

    fn is_template(field: &str, name: &str) -> bool {
        field == name || field.contains("TYPENAME") || field.contains("SIZE") && field.starts_with("shmem_")
    }
}
