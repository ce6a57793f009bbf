#!/usr/bin/env bash
# emulated.sh TREE [SUITE...]: runs suites of the tests (conformance and examples unless named) on programs for another
# machine, which qemu-user emulates; oshrun is this machine's. TREE is what ./x build --target made,
# target/pellucid-aarch64.
set -euo pipefail

root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
tree=$(readlink -f "$1")
shift
machine=${tree##*-}
compiler=$machine-linux-gnu emulator=qemu-$machine libraries=/usr/$machine-linux-gnu
for needed in "$compiler-gcc" "$compiler-g++" "$emulator"; do
    command -v "$needed" >/dev/null || { echo "not tested: $needed is not installed" >&2; exit 0; }
done
(($# > 0)) || set -- conformance examples

# A tree that is used as any other: its oshcc compiles for that machine, its oshrun has what it starts emulated.
made=$root/target/emulated-$machine
rm -rf "$made"
mkdir -p "$made/bin"
ln -s "$tree/include" "$tree/lib" "$made/"
for names in oshcc=gcc oshc++=g++; do
    cat >"$made/bin/${names%=*}" <<TEXT
#!/bin/bash
exec $compiler-${names#*=} -I$tree/include "\$@" -L$tree/lib -Wl,-rpath,$tree/lib -lsma
TEXT
done
cat >"$made/bin/oshrun" <<TEXT
#!/bin/bash
words=()
while ((\$# > 0)); do
    # The program: its ELF header has a machine that is not this one's.
    if [[ -x \$1 && -f \$1 && \$(od -An -tx1 -j18 -N1 "\$1" 2>/dev/null) != ' 3e' &&
        \$(head -c 4 "\$1" | tail -c 3) == ELF ]]; then
        exec $root/target/pellucid/bin/oshrun "\${words[@]}" $emulator -L $libraries "\$@"
    fi
    words+=("\$1")
    shift
done
exec $root/target/pellucid/bin/oshrun "\${words[@]}"
TEXT
for tool in oshprof oshfort; do ln -s "$root/target/pellucid/bin/$tool" "$made/bin/"; done
for name in oshcxx oshCC; do ln -s oshc++ "$made/bin/$name"; done
chmod +x "$made"/bin/oshcc "$made"/bin/oshc++ "$made"/bin/oshrun

# Not what needs another tree, and not the program that asks how much memory its process has taken: the emulator takes
# some as it translates.
cd "$root"
PELLUCID_PREFIX=$made exec cargo test --quiet --package pellucid-tests "${@/#/--test=}" --no-fail-fast \
    -- --skip tutorial --skip 9.04-team/cycles
