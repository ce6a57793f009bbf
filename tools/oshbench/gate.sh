#!/usr/bin/env bash
# ./x bench --gate REVISION [PROGRAM...] [-- OPTION...]: this tree against another revision of it, by `oshprof gate`:
# programs of examples/, each compiled and run with its own revision's library, in pairs. Options after -- go to
# oshprof gate.
#
# The other revision is built in a clone of its own, which is removed; what was installed of it stays in target/gate,
# so that the next comparison with it begins at once. Exit status: the worst of oshprof gate's (0, 3 regression, 4 not
# comparable, 1 failed).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tree=$root/target/pellucid

# Some tenths of a second each on two cores: a run that is shorter is mostly start and end.
programs="gups -n 2 -- -t 16 -u 3000000
isort -n 2 -- -k 1500000
heat2d -n 2 -- -r 256 -c 256 -s 1500"

fail() {
    echo "bench --gate: $*" >&2
    exit 1
}

wrong() {
    echo "bench --gate: $*" >&2
    exit 2
}

names=$(cut -d' ' -f1 <<<"$programs" | xargs)

# Which programs: those named, or all; and what oshprof is told.
chosen=() options=()
[[ $# -gt 0 && $1 != -* ]] || wrong "which revision? ./x bench --gate REVISION [PROGRAM...] [-- OPTION...]"
revision=$1
shift
while (($# > 0)); do
    case $1 in
    --) options=("${@:2}") && break ;;
    *)
        grep -qwF -- "$1" <<<"$names" || wrong "there is no program '$1'; there are: $names"
        chosen+=("$1")
        ;;
    esac
    shift
done
commit=$(git -C "$root" rev-parse --verify --quiet "$revision^{commit}") ||
    wrong "'$revision' is no revision of this repository"

work=$(mktemp -d)
base=$root/target/gate/$commit

# Built once, at a place of its own that is always the same: else nothing of the build before would be of use. Half of
# an installation is never taken for a whole one.
clone=
build_base() {
    local gate=$root/target/gate lock partial
    exec {lock}>"$gate/lock"
    flock "$lock"
    clone=$gate/clone partial=$gate/partial
    rm -rf "$clone" "$partial"
    echo "bench --gate: building ${commit:0:12}" >&2
    git clone --quiet --shared --no-checkout "$root" "$clone"
    git -C "$clone" checkout --quiet --detach "$commit"
    ln -s "$gate/build" "$clone/target"
    "$clone/x" install --prefix "$partial" >&2 || fail "${commit:0:12} does not build"
    mkdir -p "$partial/share/examples"
    cp -R "$clone/examples/." "$partial/share/examples"
    rm -rf "$clone" "$base"
    mv "$partial" "$base"
    clone=
    exec {lock}>&-
}

mkdir -p "$root/target/gate/build"
trap 'rm -rf "$work" ${clone:+"$clone"}' EXIT
[[ -x $base/bin/oshrun ]] || build_base

# Both lie at paths of one length: what the stack of a program begins with moves everything on it.
mkdir "$work/base" "$work/this"
ln -s "$base" "$work/base/tree"
ln -s "$tree" "$work/this/tree"
ln -s "$base/share/examples" "$work/base/examples"
ln -s "$root/examples" "$work/this/examples"

worst=0
while read -r -u 3 name launch; do
    if ((${#chosen[@]} > 0)) && ! printf '%s\n' "${chosen[@]}" | grep -qxF -- "$name"; then
        continue
    fi
    for side in base this; do
        "$work/$side/tree/bin/oshcc" -O2 -g "$work/$side/examples/$name/$name.c" -o "$work/$side/$name" -lm ||
            fail "$name does not compile with the library of $side"
    done
    line() { echo "$work/$1/tree/bin/oshrun ${launch%% -- *} $work/$1/$name ${launch#* -- }"; }
    echo "$name ${launch#* -- }: ${commit:0:12} and this tree"
    status=0
    "$tree/bin/oshprof" gate "${options[@]}" --base "$(line base)" --new "$(line this)" || status=$?
    # A failure is worse than no answer, and that than a regression, which is worse than none.
    rank=(0 3 3 1 2)
    ((${rank[status]:-3} <= ${rank[worst]:-3})) || worst=$status
done 3<<<"$programs"
exit "$worst"
