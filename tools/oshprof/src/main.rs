//! `oshprof`: its code is a library, of whose declarations the manual is made, too.

fn main() -> std::process::ExitCode {
    oshprof::main()
}
