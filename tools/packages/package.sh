#!/usr/bin/env bash
# package.sh TREE VERSION TO: a tarball that can be unpacked anywhere, and a Debian package, of the tree that ./x build
# has made. Run by ./x package.
set -euo pipefail

tree=$1 version=$2 to=$3
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# Debian's openmpi-bin has an /usr/bin/oshrun and an oshcc of its own: nothing goes where others' files are.
prefix=/opt/pellucid
# The same tree makes the same files, whenever they are made.
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf '%s\n' "x: $*" >&2; }

# What a program or library of the tree asks of the C library at most, as in "2.34".
newest_glibc() {
    local file
    for file in "$tree"/bin/* "$tree"/lib/*.so*; do
        [[ -L $file || ! -f $file ]] || objdump -T "$file"
    done | sed -n 's/.*(\?GLIBC_\([0-9][0-9.]*\))\?.*/\1/p' | sort -uV | tail -n1
}

# Without debug information, which is larger than all else: ./x install has it.
copy_tree() {
    mkdir -p "$1"
    tar -C "$tree" --exclude=.debug -c bin include lib share | tar -x -C "$1"
    find "$1" -exec touch --no-dereference --date="@$epoch" {} +
    chmod -R u+rwX,go+rX,go-w "$1"
}

tarball() {
    local name="pellucid-$version" file
    file=$to/$name-linux-$(uname -m).tar.gz
    copy_tree "$work/$name"
    tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$work" -c "$name" | gzip -n >"$file.new"
    mv -f "$file.new" "$file"
    say "made $file"
}

control() {
    local architecture=$1 size
    size=$(du -sk "$work/deb$prefix" | cut -f1)
    cat <<TEXT
Package: pellucid
Version: $version
Architecture: $architecture
Maintainer: The Pellucid developers <pellucid@example.invalid>
Installed-Size: $size
Depends: libc6 (>= $(newest_glibc)), libgcc-s1
Recommends: gcc, libc6-dev, libfabric1
Suggests: gfortran, cmake, pkg-config, environment-modules
Section: devel
Priority: optional
Description: OpenSHMEM 1.6 library with a built-in profiler
 A library for programs of which each process reads and writes the memory of
 the others, on one host or several: compile with oshcc, run with oshrun, see
 what a program did with oshprof.
 .
 All is in $prefix: add $prefix/bin to PATH, or
 module use $prefix/share/modulefiles.
TEXT
}

debian_package() {
    local architecture file
    architecture=$(dpkg --print-architecture)
    file=$to/pellucid_${version}_$architecture.deb
    copy_tree "$work/deb$prefix"
    mkdir -p "$work/deb/DEBIAN"
    control "$architecture" >"$work/deb/DEBIAN/control"
    (cd "$work/deb" && find opt -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod 755 "$work/deb" "$work/deb/opt" "$work/deb/DEBIAN"
    find "$work/deb" -exec touch --no-dereference --date="@$epoch" {} +
    SOURCE_DATE_EPOCH=$epoch dpkg-deb --root-owner-group -Zgzip --build "$work/deb" "$file.new" >/dev/null
    mv -f "$file.new" "$file"
    say "made $file"
}

mkdir -p "$to"
tarball
if command -v dpkg-deb >/dev/null; then
    debian_package
else
    say "no dpkg-deb here: no Debian package is made"
fi
