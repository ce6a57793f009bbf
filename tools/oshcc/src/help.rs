//! The wrapper's own part of `--help`.

use crate::language::{Compiler, Language};
use crate::show;

/// What is printed before the compiler's own help.
pub fn text(language: Language, compiler: &Compiler) -> String {
    let wrapper = language.wrapper();
    let variables = language.variables().join(" or ");
    let variable = language.variables()[0];
    let (source, gnu) = match language {
        Language::C => ("prog.c", "gcc"),
        Language::Cxx => ("prog.cpp", "g++"),
        Language::Fortran => ("prog.f90", "gfortran"),
    };
    format!(
        "\
Usage: {wrapper} [OPTION...] FILE...

The compiler `{}` ({}), with what OpenSHMEM programs need added:
the directory of shmem.h before your arguments, and the library after them when linking.

Options of {wrapper}; every other one goes to the compiler unchanged:
  -show, --show, -showme  print the command instead of running it
  -showme:compile         print the options added for compiling
  -showme:link            print the options added for linking
  -showme:incdirs, -showme:libdirs, -showme:libs, -showme:command, -showme:version
                          print parts of them, the compiler, this version

Environment: {variables} is the compiler, with arguments if need be ({variable}=\"ccache {gnu}\").

A PSHMEM profiler needs no more than its own -l option: {wrapper} {source} -lmyprof

The compiler's own help:

",
        show::line(&compiler.words),
        compiler.origin
    )
}
