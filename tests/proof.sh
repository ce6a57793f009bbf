#!/usr/bin/env bash
# The table of docs/proof.md: programs whose bottleneck is known, what removing it gains, and what the profile says of
# it.
#
# Usage: proof.sh BIN OUTPUT [PES...]: tools of BIN; rows for 2, 4 and 16 PEs unless given. It takes some minutes; in
# pieces: PROOF_ROWS=DIR keeps rows there and takes those that are there, PROOF_RULES="RULE..." is for these rules
# alone.
set -euo pipefail
export LC_ALL=C

bin=$1 output=$2
shift 2
counts=("$@")
((${#counts[@]} > 0)) || counts=(2 4 16)
rounds=${PROOF_ROUNDS:-5}
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cores=$(nproc)
rows=${PROOF_ROWS:-$work/rows}
mkdir -p "$rows"
# Below this gain in percent a program has not the bottleneck that it is for.
least_gain=5

"$bin/oshcc" -O2 -g "$here/programs/advice/advice.c" -o "$work/advice"
# What is measured of this machine is nobody else's.
export XDG_CACHE_HOME=$work/cache

# rule, PEs from which on it can be seen, transport, turns are divided by so much a PE (0: by what keeps it short), the
# bottleneck
rules() {
    echo "small-puts 2 auto 0 values put one by one
quiet-often 2 auto 0 a quiet for each value
put-then-flag 2 ofi 200 data, fence and flag for each message, over the network
strided 2 auto 0 blocks moved element by element
first-touch 2 auto 0 puts to memory that nobody has touched
network-small 2 ofi 1 each small put complete before the next, over the network
small-gets 2 auto 0 values fetched one by one
own-memory 2 auto 0 values of the PE itself fetched through the library
get-and-wait 2 ofi 50 the consumer fetches what the producer has, over the network
polling 2 auto 0 PEs ask again and again
heap 2 auto 0 allocation in a loop
contexts-and-teams 2 auto 0 a context for each message
queries 2 auto 0 the number of PEs asked in the inner loop
contended-atomics 2 auto 0 one counter for all
compare-and-swap 2 ofi 100 sums by compare-and-swap, over the network
locks 2 auto 0 an update under a lock
hot-pe 4 auto 0 all read from PE 0
barrier-late 2 auto 0 PE 1 has more to do in each turn
serial-pe 2 auto 0 PE 0 works for all
barriers-per-byte 2 auto 0 two barriers for each word
waits-for 2 auto 0 PE 0 works before it sends
serialized 2 auto 0 one buffer, that is filled or read
uneven-work 4 auto 0 every other PE has more to do in each turn
uneven-steps 4 auto 0 another PE has more to do in each turn
larger-team 4 auto 0 pairs of PEs meet all others
algorithm 4 auto 0 large sums by an algorithm that the environment forces"
}

# The program, with what comes before it: RULE HOW PES PARTS TRANSPORT OPTION...
program() {
    local rule=$1 how=$2 pes=$3 parts=$4 transport=$5
    SHMEM_TRANSPORT=$transport timeout 300 "$bin/oshrun" -n "$pes" --heap 300m "${@:6}" \
        "$work/advice" "$rule" "$how" "$parts"
}

# Milliseconds of a run, which ends with status 0 or is no number.
time_of() {
    program "$@" --profile off 2>/dev/null | cut -d' ' -f1
}

median() { sort -g | awk '{ all[NR] = $1 } END { if (NR > 0) print all[int((NR + 1) / 2)] }'; }

# In alternation, so that what else the machine does meets both alike.
gain_of() {
    local rule=$1 round
    : >"$work/as-is"
    : >"$work/advised"
    for ((round = 0; round < rounds; round++)); do
        time_of "$rule" as-is "${@:2}" >>"$work/as-is"
        time_of "$rule" advised "${@:2}" >>"$work/advised"
    done
    awk -v before="$(median <"$work/as-is")" -v after="$(median <"$work/advised")" \
        'BEGIN { if (before > 0) printf "%.0f %.1f %.1f", 100 * (1 - after / before), before, after }'
}

# GAIN RULE PES HEAD FOUND: what a row says in the end.
verdict() {
    local gain=$1 rule=$2 pes=$3 head=$4 found=$5
    if ((gain < least_gain)); then
        [[ $head == "$rule" ]] && echo 'no: named, no gain' || echo 'no gain, not named first'
    elif [[ $head == "$rule" ]]; then
        echo yes
    elif ((pes > cores)) && [[ $head == oversubscribed && " $found " == *" $rule "* ]]; then
        echo 'yes, behind too few cores'
    else
        echo no
    fi
}

row() {
    local rule=$1 pes=$2 transport=$3 divide=$4 what=$5 parts gain before after said head found profile
    parts=$((divide > 0 ? divide * pes : pes > 4 ? pes / 4 : 1))
    read -r gain before after <<<"$(gain_of "$rule" "$pes" "$parts" "$transport")"
    profile=$work/$rule-$pes
    [[ $rule != algorithm ]] || "$bin/oshrun" --calibrate -n "$pes" --heap 300m >/dev/null 2>&1
    program "$rule" as-is "$pes" "$parts" "$transport" --profile-dir "$profile" >/dev/null 2>&1
    said=$("$bin/oshprof" advise "$profile" 2>/dev/null |
        grep -o '\[[a-z-]*, up to [0-9]* %' | tr -d '[' | sed 's/, up to / /' || true)
    found=$(cut -d' ' -f1 <<<"$said" | tr '\n' ' ')
    head=$("$bin/oshprof" report "$profile" 2>/dev/null |
        sed -n '/^first finding:/,/^$/p' | tr '\n' ' ' | grep -o '\[[a-z-]*,' | tr -d '[,' || true)
    echo "| $what | $pes | ${before:-?} | ${after:-?} | ${gain:-?} % | ${head:-nothing} |" \
        "$(tr '\n' ',' <<<"$said" | sed 's/,$//; s/,/, /g') |" \
        "$(verdict "${gain:-0}" "$rule" "$pes" "$head" "${found% }") |"
}

head_line() {
    awk -F' *[|] *' -v least="$least_gain" '
        NF == 10 && $6 ~ /%$/ {
            if ($6 + 0 < least) { none++; if ($9 !~ /^no:/) silent++ } else { all++; if ($9 ~ /^yes/) good++ }
        }
        END {
            printf "%d of %d rows with a bottleneck agree", good, all
            if (none > 0) printf "; of %d without a gain, the head does not name it in %d", none, silent
        }' "$@"
}

{
    rules | while read -r rule least transport divide what; do
        [[ -z ${PROOF_RULES-} || " $PROOF_RULES " == *" $rule "* ]] || continue
        for pes in "${counts[@]}"; do
            ((pes >= least)) || continue
            kept=$rows/$rule-$pes
            if [[ ! -s $kept ]]; then
                row "$rule" "$pes" "$transport" "$divide" "$what" </dev/null >"$work/row"
                mv "$work/row" "$kept"
            fi
            cat "$kept"
        done
    done
} >"$work/table"
mkdir -p "$(dirname "$output")"
{
    cat <<TEXT
# What the profile says of programs whose bottleneck is known

Written by \`./x proof\`: each program of \`tests/programs/advice\` runs as it is and without its bottleneck, $rounds
times each in alternation, without a profile (medians, in milliseconds); then once more with a profile as it is. *Head*
is the first finding of \`oshprof report\`, *advise* are the rules of \`oshprof advise\` with what each could save at
most, in percent of the run. A row agrees where the head names the rule of the bottleneck; with more PEs than cores,
that there are too few cores may come before it. Where removing the bottleneck gains less
than $least_gain %, it is none with so many PEs:
there the head should name something else. "Over the network" is libfabric between all PEs, on one host.

**$(head_line "$work/table").**

$cores cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1).

| bottleneck | PEs | as it is | without | gain | head | advise | agree |
|---|---|---|---|---|---|---|---|
TEXT
    cat "$work/table"
} >"$output"
echo "proof: $(head_line "$work/table"); $output" >&2
