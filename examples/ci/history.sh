#!/usr/bin/env bash
# Adds this commit to the history of the program, which lies on a branch of its own, and says which commit changed what.
#
#   BUILD="make" RUN="oshrun -n 4 ./solver" ci/history.sh
#
# HISTORY is the name of the branch (perf-history); it is made where there is none. The page with the plots goes to
# perf-report/history.html. Exit status: that of `oshprof history check` (3: one of the last commits brought a
# regression); 1 where something could not be built, run or pushed.
set -euo pipefail

[[ $# == 0 && -n ${BUILD-} && -n ${RUN-} ]] || {
    echo "usage: BUILD=... RUN=... $0" >&2
    exit 2
}
branch=${HISTORY:-perf-history}
of=${GITHUB_REF_NAME:-${CI_COMMIT_BRANCH:-}}
report=$(realpath -m -- "${REPORT:-perf-report}")
top=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
store=$work/store
# shellcheck disable=SC2317 # The trap calls it.
tidy() {
    git -C "$top" worktree remove --force "$store" 2>/dev/null || true
    rm -rf "$work"
}
trap tidy EXIT
as_bot=(-c user.name="communication history" -c user.email="history@localhost")

cd "$top"
bash -ec "$BUILD" >&2
for n in 1 2; do
    SHMEM_PROFILE_DIR=$work/run-$n bash -ec "$RUN" >&2
done

if git fetch --quiet origin "+refs/heads/$branch:refs/remotes/origin/$branch" 2>/dev/null; then
    begin=origin/$branch
else
    echo "history.sh: the branch $branch is new" >&2
    begin=$(git "${as_bot[@]}" commit-tree -m "Begin of the history" "$(git hash-object -w -t tree /dev/null)")
fi
git worktree add --quiet --detach "$store" "$begin"
oshprof history add "$work"/run-{1,2} --store "$store" --commit "$(git rev-parse HEAD)" \
    --parent "$(git rev-parse --quiet --verify HEAD^ || true)" --branch "$of" \
    --time "$(git show -s --format=%ct HEAD)"
git -C "$store" add -A
git -C "$store" "${as_bot[@]}" commit --quiet -m "Profile of $(git rev-parse --short=12 HEAD)" || true

# Another pipeline may have been faster. Its lines and these are both kept.
pushed=
for _ in 1 2 3; do
    if git push --quiet origin "$(git -C "$store" rev-parse HEAD):refs/heads/$branch"; then
        pushed=1
        break
    fi
    git fetch --quiet origin "+refs/heads/$branch:refs/remotes/origin/$branch" || break
    git -C "$store" "${as_bot[@]}" merge --quiet --no-edit --allow-unrelated-histories "origin/$branch"
done
[[ -n $pushed ]] || {
    echo "history.sh: the branch $branch could not be pushed" >&2
    exit 1
}
mkdir -p "$report"
oshprof history plot "$report/history.html" --store "$store"
oshprof history check --store "$store" --branch "$of"
