#!/usr/bin/env bash
# The table of docs/proof.md: programs whose bottleneck is known, what removing it gains, and what the profile says of it.
# Usage: proof.sh BIN OUTPUT [PES...]: tools of BIN; rows for 2, 4 and 16 PEs unless given.
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

"$bin/oshcc" -O2 -g "$here/programs/advice/advice.c" -o "$work/advice"

# rule, PEs from which on it can be seen, the bottleneck
rules() {
    echo "small-puts 2 values put one by one
quiet-often 2 a quiet for each value
put-then-flag 2 data, fence and flag for each message
strided 2 blocks moved element by element
first-touch 2 puts to memory that nobody has touched
small-gets 2 values fetched one by one
get-and-wait 2 the consumer fetches what the producer has
polling 2 PEs ask again and again
heap 2 allocation in a loop
queries 2 the number of PEs asked in the inner loop
contended-atomics 2 one counter for all
locks 2 an update under a lock
hot-pe 4 all read from PE 0
barrier-late 2 PE 1 has more to do in each turn
serial-pe 2 PE 0 works for all
barriers-per-byte 2 two barriers for each word
waits-for 2 PE 0 works before it sends
larger-team 4 pairs of PEs meet all others"
}

# Milliseconds of a run, which ends with status 0 or is no number.
time_of() {
    local rule=$1 how=$2 pes=$3 parts=$4
    timeout 300 "$bin/oshrun" -n "$pes" --heap 300m --profile off "$work/advice" "$rule" "$how" "$parts" 2>/dev/null | cut -d' ' -f1
}

median() { sort -g | awk '{ all[NR] = $1 } END { if (NR > 0) print all[int((NR + 1) / 2)] }'; }

# In alternation, so that what else the machine does meets both alike.
gain_of() {
    local rule=$1 pes=$2 parts=$3 round
    : >"$work/as-is"
    : >"$work/advised"
    for ((round = 0; round < rounds; round++)); do
        time_of "$rule" as-is "$pes" "$parts" >>"$work/as-is"
        time_of "$rule" advised "$pes" "$parts" >>"$work/advised"
    done
    awk -v before="$(median <"$work/as-is")" -v after="$(median <"$work/advised")" \
        'BEGIN { if (before > 0) printf "%.0f %.1f %.1f", 100 * (1 - after / before), before, after }'
}

row() {
    local rule=$1 pes=$2 what=$3 parts gain before after head found agree profile
    parts=$((pes > 4 ? pes / 4 : 1))
    read -r gain before after <<<"$(gain_of "$rule" "$pes" "$parts")"
    profile=$work/$rule-$pes
    "$bin/oshrun" -n "$pes" --heap 300m --profile-dir "$profile" "$work/advice" "$rule" as-is "$parts" >/dev/null 2>&1
    found=$("$bin/oshprof" advise "$profile" 2>/dev/null | grep -o '\[[a-z-]*, up to [0-9]* %' | tr -d '[' | cut -d, -f1 | tr '\n' ' ')
    head=$("$bin/oshprof" report "$profile" 2>/dev/null | sed -n '/^first finding:/,/^$/p' | tr '\n' ' ' | grep -o '\[[a-z-]*,' | tr -d '[,')
    agree=no
    if [[ " $found" == *" $rule "* ]] && { [[ $head == "$rule" ]] || { ((pes > cores)) && [[ $head == oversubscribed ]]; }; }; then
        agree=yes
    elif ((gain < 5)); then
        agree='no gain here'
    fi
    echo "| $what | $pes | $before | $after | $gain % | ${head:-nothing} | ${found% } | $agree |"
}

{
    cat <<TEXT
# What the profile says of programs whose bottleneck is known

Written by \`./x proof\`: each program of \`tests/programs/advice\` runs as it is and without its bottleneck, $rounds
times each in alternation, without a profile (medians, in milliseconds); then once more with a profile as it is. *head*
is the first finding of \`oshprof report\`, *advise* are the rules of \`oshprof advise\`, most expensive first. They agree
where the rule of the bottleneck is among them and first; with more PEs than cores, that there are too few cores may
come first. Where removing the bottleneck gains less than 5 %, it is none there.

$cores cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), load $(cut -d' ' -f1 /proc/loadavg) when it began.

| bottleneck | PEs | as it is | without | gain | head | advise | agree |
|---|---|---|---|---|---|---|---|
TEXT
    rules | while read -r rule least what; do
        for pes in "${counts[@]}"; do
            ((pes < least)) || row "$rule" "$pes" "$what" </dev/null
        done
    done
} >"$work/table"
mkdir -p "$(dirname "$output")"
cp "$work/table" "$output"
echo "proof: $(grep -c '| yes |' "$output") of $(grep -c ' % | ' "$output") rows agree; $output" >&2
