"""The recipe for Spack: `spack repo add CHECKOUT/tools/packages/spack`, then `spack install pellucid`."""

import os

from spack.package import *

# The checkout that this file is in: what is committed there is built.
CHECKOUT = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 5))


class Pellucid(Package):
    """OpenSHMEM 1.6 library that can be seen through: a profile of every program, metrics, traces."""

    homepage = "file://" + CHECKOUT
    git = "file://" + CHECKOUT

    license("Apache-2.0 OR MIT")

    version("main", branch="main")

    variant("libfabric", default=True, description="PEs on several hosts, over libfabric (found at run time)")
    variant("fortran", default=True, description="Modules of the Fortran interface for this gfortran")

    provides("openshmem@1.6")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("rust@1.95:", type="build")
    depends_on("binutils", type="build")
    depends_on("libfabric@1.17:", type="run", when="+libfabric")

    conflicts("platform=darwin", msg="Linux only")
    conflicts("platform=windows", msg="Linux only")

    def install(self, spec, prefix):
        Executable("./x")("install", "--prefix", prefix)

    def setup_run_environment(self, env):
        # The library opens libfabric when a job needs it.
        if self.spec.satisfies("+libfabric"):
            env.set("SHMEM_OFI_LIBRARY", join_path(self.spec["libfabric"].prefix.lib, "libfabric.so.1"))

    def setup_dependent_build_environment(self, env, dependent_spec):
        for variable, wrapper in [("OSHCC", "oshcc"), ("OSHCXX", "oshc++"), ("OSHFORT", "oshfort")]:
            env.set(variable, join_path(self.prefix.bin, wrapper))
