#!/usr/bin/env bash
# emulated_kernel.sh KERNEL SHELL TREE [CHAPTER...]: boots an aarch64 KERNEL (vmlinuz), as one with pages of 16 or
# 64 KiB, in qemu-system-aarch64, and runs the programs of tests/conformance on it (those of CHAPTER, as 9.06-rma, if
# named), at up to 3 PEs. SHELL is a statically linked busybox for aarch64; TREE is what ./x build --target made,
# target/pellucid-aarch64. The last line is 'N passed, N failed'.
set -euo pipefail

kernel=$1 shell=$2 tree=$(readlink -f "$3")
shift 3
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
compiler=aarch64-linux-gnu-gcc
for needed in "$compiler" qemu-system-aarch64 cpio; do
    command -v "$needed" >/dev/null || { echo "emulated_kernel.sh: $needed is not installed" >&2; exit 1; }
done
(($# > 0)) || {
    set -- "$root"/tests/conformance/*/
    set -- "${@%/}"
    set -- "${@##*/}"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
disk=$work/disk
mkdir -p "$disk"/{bin,dev,proc,sys,tmp,run,programs,lib,pellucid/{bin,lib}}
cp "$shell" "$disk/bin/busybox"
cp "$tree/bin/oshrun" "$disk/pellucid/bin/"
cp -P "$tree"/lib/libsma.so* "$disk/pellucid/lib/"
cp -L /usr/aarch64-linux-gnu/lib/{ld-linux-aarch64.so.1,libc.so.6,libm.so.6,libpthread.so.0,libdl.so.2,librt.so.1} \
    /usr/aarch64-linux-gnu/lib/{libgcc_s.so.1,libgomp.so.1} "$disk/lib/"

# As the tests make it: one HAVE_shmem_X for each function of the headers.
grep -ohE '[A-Za-z_][A-Za-z0-9_]*[(]' "$tree"/include/*.h | sort -u |
    sed 's/\(.*\)(/#define HAVE_\1 1/' >"$work/declared.h"

# Of a header field of a program: 'name: words'.
field() { sed -n "1,20s/^ \* $2: *//p" "$1"; }
for chapter in "$@"; do
    for source in "$root/tests/conformance/$chapter"/*.c; do
        [[ -e $source && -z $(field "$source" status)$(field "$source" hosts) ]] || continue
        # The harness fills in types: those are not for here.
        ! grep -q TYPENAME "$source" || continue
        name=$chapter-$(basename "$source" .c)
        read -ra options <<<"$(field "$source" cflags)" || true
        read -ra libraries <<<"$(field "$source" libraries)" || true
        "$compiler" -g -O1 "${options[@]}" -I"$tree/include" -I"$root/tests/include" -I"$work" \
            -o "$disk/programs/$name" "$source" -L"$tree/lib" -Wl,-rpath,/pellucid/lib -lsma "${libraries[@]}" \
            -pthread -lm || continue
        pes=$(field "$source" pes | tr ' ' '\n' | awk '$1 <= 3' | sort -n | tail -1)
        echo "$name ${pes:-2} $(field "$source" environment)" >>"$disk/programs/list"
    done
done

cat >"$disk/init" <<'TEXT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev
mkdir -p /dev/shm; mount -t tmpfs none /dev/shm; ifconfig lo 127.0.0.1 up
echo "pages of $(awk '/^KernelPageSize/ { print $2; exit }' /proc/self/smaps) KiB"
passed=0 failed=0
while read -r name pes environment; do
    if env $environment timeout 120 /pellucid/bin/oshrun -n "$pes" "/programs/$name" >/tmp/out 2>&1 </dev/null; then
        passed=$((passed + 1)); echo "ok $name"
    else
        failed=$((failed + 1)); echo "FAILED $name at $pes PEs, or not done after 2 minutes"; head -20 /tmp/out
    fi
done </programs/list
echo "$passed passed, $failed failed"
poweroff -f
TEXT
chmod +x "$disk/init"
(cd "$disk" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/disk.gz"
timeout "${LIMIT:-3600}" qemu-system-aarch64 -machine virt -cpu max,pauth-impdef=on -smp 2 -m 3G -nographic -no-reboot \
    -nic none -kernel "$kernel" -initrd "$work/disk.gz" -append 'console=ttyAMA0 panic=-1 quiet' | tee "$work/log"
grep -qE '^[1-9][0-9]* passed, 0 failed' <(tr -d '\r' <"$work/log")
