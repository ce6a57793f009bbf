# find_package(OpenSHMEM) finds this file where oshcc is in PATH, or the installation in CMAKE_PREFIX_PATH.
#
#   OpenSHMEM::OpenSHMEM    the library: target_link_libraries(prog PRIVATE OpenSHMEM::OpenSHMEM)
#   OpenSHMEM::static       the same, linked into the program
#   OpenSHMEM::Fortran      the Fortran interface, and the modules where they were made for this compiler
#   OpenSHMEM::Fortran_static    the same, linked into the program
#   OpenSHMEM_Fortran_MODULES    their folder, for `use shmem` and `use shmem_c`; false where they were not made
#   OpenSHMEM_OSHRUN        the launcher, for add_test
#   OpenSHMEM_OSHCC, OpenSHMEM_OSHCXX, OpenSHMEM_OSHFORT    the compiler wrappers
#   OpenSHMEM_INCLUDE_DIRS, OpenSHMEM_LIBRARIES             for those who use no targets
#
# Components are C, CXX, static, and Fortran where its interface is installed. Version 1.6 is that of the specification.
# The installation may be moved with this file in it.

get_filename_component(_openshmem_root "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)

set(OpenSHMEM_INCLUDE_DIRS "${_openshmem_root}/include")
set(OpenSHMEM_LIBRARIES "${_openshmem_root}/lib/libsma.so")
set(OpenSHMEM_OSHRUN "${_openshmem_root}/bin/oshrun")
set(OpenSHMEM_OSHCC "${_openshmem_root}/bin/oshcc")
set(OpenSHMEM_OSHCXX "${_openshmem_root}/bin/oshc++")
set(OpenSHMEM_OSHFORT "${_openshmem_root}/bin/oshfort")

# An installed program finds the library, too: CMake takes what it adds itself out of that. Meson, which reads this file
# as well, passes `SHELL:` on as it is; where the folder has a comma, there is no other way.
set(_openshmem_rpath "-Wl,-rpath,${_openshmem_root}/lib")
if(_openshmem_root MATCHES ",")
  set(_openshmem_rpath "SHELL:-Xlinker -rpath -Xlinker \"${_openshmem_root}/lib\"")
endif()

if(NOT TARGET OpenSHMEM::OpenSHMEM)
  add_library(OpenSHMEM::OpenSHMEM SHARED IMPORTED)
  set_target_properties(OpenSHMEM::OpenSHMEM PROPERTIES
    IMPORTED_LOCATION "${_openshmem_root}/lib/libsma.so.1"
    IMPORTED_SONAME "libsma.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${_openshmem_root}/include"
    INTERFACE_LINK_OPTIONS "${_openshmem_rpath}")

  add_library(OpenSHMEM::static STATIC IMPORTED)
  set_target_properties(OpenSHMEM::static PROPERTIES
    IMPORTED_LOCATION "${_openshmem_root}/lib/libsma.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_openshmem_root}/include"
    # As an option: a project may have a target of this name.
    INTERFACE_LINK_LIBRARIES "-lm")
endif()

if(EXISTS "${_openshmem_root}/lib/libsmaf.so.1")
  if(NOT TARGET OpenSHMEM::Fortran)
    add_library(OpenSHMEM::Fortran SHARED IMPORTED)
  endif()
  set(_openshmem_gnu "$<COMPILE_LANG_AND_ID:Fortran,GNU>")
  set(_openshmem_options "$<${_openshmem_gnu}:-fcray-pointer>")
  if(CMAKE_Fortran_COMPILER_VERSION VERSION_GREATER_EQUAL 10)
    list(APPEND _openshmem_options "$<${_openshmem_gnu}:-fallow-argument-mismatch>")
  endif()
  # Where Fortran is enabled after a first find_package, a second one finds the modules.
  set(_openshmem_includes "${_openshmem_root}/include")
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    string(REGEX MATCH "^[0-9]+" _openshmem_compiler "${CMAKE_Fortran_COMPILER_VERSION}")
    set(_openshmem_compiler "gfortran-${_openshmem_compiler}")
  else()
    # As oshfort names them.
    get_filename_component(_openshmem_compiler "${CMAKE_Fortran_COMPILER}" NAME)
  endif()
  set(_openshmem_modules "${_openshmem_root}/lib/pellucid/modules/${_openshmem_compiler}")
  set(OpenSHMEM_Fortran_MODULES FALSE)
  if(_openshmem_compiler AND IS_DIRECTORY "${_openshmem_modules}")
    set(OpenSHMEM_Fortran_MODULES "${_openshmem_modules}")
    list(APPEND _openshmem_includes "${_openshmem_modules}")
  elseif(CMAKE_Fortran_COMPILER_ID AND NOT OpenSHMEM_FIND_QUIETLY)
    # Elsewhere the compiler says no more than that it finds no module file.
    message(STATUS "OpenSHMEM has no module files of ${CMAKE_Fortran_COMPILER_ID} ${CMAKE_Fortran_COMPILER_VERSION} "
      "for `use shmem`: compile ${_openshmem_root}/share/pellucid/fortran/*.f90 with it (oshfort says how)")
  endif()
  set_target_properties(OpenSHMEM::Fortran PROPERTIES
    IMPORTED_LOCATION "${_openshmem_root}/lib/libsmaf.so.1"
    IMPORTED_SONAME "libsmaf.so.1"
    # As oshfort: Cray pointers, and buffers of any type.
    INTERFACE_COMPILE_OPTIONS "${_openshmem_options}"
    INTERFACE_INCLUDE_DIRECTORIES "${_openshmem_includes}"
    INTERFACE_LINK_LIBRARIES "OpenSHMEM::OpenSHMEM")
  if(NOT TARGET OpenSHMEM::Fortran_static)
    add_library(OpenSHMEM::Fortran_static STATIC IMPORTED)
  endif()
  set_target_properties(OpenSHMEM::Fortran_static PROPERTIES
    IMPORTED_LOCATION "${_openshmem_root}/lib/libsmaf.a"
    INTERFACE_COMPILE_OPTIONS "${_openshmem_options}"
    INTERFACE_INCLUDE_DIRECTORIES "${_openshmem_includes}"
    INTERFACE_LINK_LIBRARIES "OpenSHMEM::static")
  unset(_openshmem_includes)
  unset(_openshmem_options)
  unset(_openshmem_gnu)
  unset(_openshmem_modules)
  unset(_openshmem_compiler)
endif()

set(OpenSHMEM_C_FOUND TRUE)
set(OpenSHMEM_CXX_FOUND TRUE)
set(OpenSHMEM_static_FOUND TRUE)
set(OpenSHMEM_Fortran_FOUND FALSE)
if(TARGET OpenSHMEM::Fortran)
  set(OpenSHMEM_Fortran_FOUND TRUE)
endif()
foreach(_openshmem_component IN LISTS OpenSHMEM_FIND_COMPONENTS)
  if(OpenSHMEM_FIND_REQUIRED_${_openshmem_component} AND NOT OpenSHMEM_${_openshmem_component}_FOUND)
    set(OpenSHMEM_FOUND FALSE)
    set(OpenSHMEM_NOT_FOUND_MESSAGE "${_openshmem_root} has no component ${_openshmem_component}")
  endif()
endforeach()
unset(_openshmem_component)

unset(_openshmem_rpath)
unset(_openshmem_root)
