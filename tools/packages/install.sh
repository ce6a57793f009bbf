#!/usr/bin/env bash
# install.sh TREE TO: copies the tree that ./x build has made to where it is installed. Run by ./x install.
set -euo pipefail

tree=$1 to=$2
# What is made here is for all users, whatever umask the builder has.
umask 022
folders=(bin include lib share)
# What was installed here last: what is gone since is removed.
list=share/pellucid/installed-files

files() {
    (cd "$tree" && find "${folders[@]}" ! -type d | LC_ALL=C sort)
}

# Programs that run with an older libsma.so.N keep it.
remove_old() {
    local file
    [[ -f $to/$list ]] || return 0
    while IFS= read -r file; do
        case $file in
        *..* | lib/*.so | lib/*.so.*) ;;
        bin/* | include/* | lib/* | share/*) rm -f -- "$to/$file" ;;
        esac
    done < <(LC_ALL=C comm -23 <(LC_ALL=C sort -u "$to/$list") <(files))
}

mkdir -p "$to"
remove_old
# Files are replaced, not written to: programs may run with them. Folders that are there keep their owner and mode.
tar -C "$tree" --mode=u+rwX,go+rX,go-w -c "${folders[@]}" |
    tar -C "$to" --no-same-owner --same-permissions --no-overwrite-dir --keep-directory-symlink -x
files >"$to/$list.new"
mv -f "$to/$list.new" "$to/$list"
