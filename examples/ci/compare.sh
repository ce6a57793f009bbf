#!/usr/bin/env bash
# Compares what this commit communicates with what the commit does from which it branched off: builds both, runs each
# twice, and writes comment.md, report.html and junit.xml to the folder perf-report.
#
#   BUILD="make" RUN="oshrun -n 4 ./solver" ci/compare.sh origin/main
#
# BUILD and RUN are what a shell takes, in a checkout of the repository. REPORT is another folder, REPORT_ID another
# name in the first line of the comment (several programs in one pipeline). TIMES=10..20 runs so many pairs and tests
# times as well, for machines that are quiet enough. Exit status: that of oshprof (0 no regression, 3 regression, 4 not
# comparable); 1 where something could not be built or run.
set -euo pipefail

[[ $# == 1 && -n ${BUILD-} && -n ${RUN-} ]] || {
    echo "usage: BUILD=... RUN=... $0 REVISION" >&2
    exit 2
}
report=$(realpath -m -- "${REPORT:-perf-report}")
id=${REPORT_ID:-default}
new=$(git rev-parse --show-toplevel)
base_commit=$(git -C "$new" merge-base HEAD "$1") || {
    echo "compare.sh: $1 and this commit have nothing in common (was the repository fetched with its history?)" >&2
    exit 1
}
work=$(mktemp -d)
base=$work/base
# shellcheck disable=SC2317 # The trap calls it.
tidy() {
    git -C "$new" worktree remove --force "$base" 2>/dev/null || true
    rm -rf "$work"
}
trap tidy EXIT

build() {
    echo "compare.sh: $BUILD (${2:0:12})" >&2
    (cd "$1" && bash -ec "$BUILD") >&2 || {
        echo "compare.sh: \`$BUILD\` failed in ${2:0:12}" >&2
        exit 1
    }
}

run() {
    (cd "$1" && SHMEM_PROFILE_DIR=$2 bash -ec "$RUN") >&2 || {
        echo "compare.sh: \`$RUN\` failed" >&2
        exit 1
    }
}

rm -rf "$report"
git -C "$new" worktree add --quiet --detach "$base" "$base_commit"
build "$base" "$base_commit"
build "$new" "$(git -C "$new" rev-parse HEAD)"
mkdir -p "$report"
forms=(--markdown --id "$id" --html "$report/report.html" --junit "$report/junit.xml")

status=0
if [[ -n ${TIMES-} ]]; then
    printf -v in_base 'cd %q && %s' "$base" "$RUN"
    printf -v in_new 'cd %q && %s' "$new" "$RUN"
    oshprof gate --pairs "$TIMES" "${forms[@]}" --base "$in_base" --new "$in_new" >"$report/comment.md" || status=$?
else
    for n in 1 2; do
        run "$base" "$work/base-$n"
        run "$new" "$work/new-$n"
    done
    oshprof diff "$work"/base-{1,2} "${forms[@]}" -- "$work"/new-{1,2} >"$report/comment.md" || status=$?
fi
# Without an answer there is nothing to comment on.
[[ -s $report/comment.md ]] || rm -f "$report/comment.md"
exit "$status"
