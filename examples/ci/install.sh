#!/usr/bin/env bash
# Installs Pellucid for the steps that follow, from PELLUCID_SOURCE: a checkout, or a repository that git can clone.
set -euo pipefail
prefix=${PELLUCID_PREFIX:-$HOME/.pellucid}
source=${PELLUCID_SOURCE:?where Pellucid comes from: a checkout of it, or a repository that git can clone}
if [[ ! -x $prefix/bin/oshrun ]]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    git clone --quiet --depth 1 "$source" "$work/pellucid"
    "$work/pellucid/x" install --prefix "$prefix"
fi
# The next steps of a job on GitHub find it by this.
if [[ -n ${GITHUB_PATH-} ]]; then
    echo "$prefix/bin" >>"$GITHUB_PATH"
fi
