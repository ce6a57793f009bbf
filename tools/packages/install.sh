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
    (cd "$tree" && find "${folders[@]}" ! -type d && echo "$list") | LC_ALL=C sort
}

# What this installation does not have of the last one.
old_files() {
    [[ ! -f $to/$list ]] || LC_ALL=C comm -23 <(LC_ALL=C sort -u "$to/$list") <(files)
}

# Programs that run with an older libsma.so.N keep it.
is_kept() {
    case $1 in
    *..*) return 1 ;;
    lib/libgasnet-pellucid-*.so) ;;
    lib/libgasnet-*) return 1 ;;
    lib/*.so | lib/*.so.*) ;;
    *) return 1 ;;
    esac
}

# Under names of GASNet's (./x install --gasnet-as) there may be another GASNet's files by now.
is_ours() {
    case $1 in
    include/gasnet*.h | include/*-conduit/* | lib/libgasnet-* | lib/pkgconfig/gasnet-*)
        [[ -L $to/$1 ]] || grep -qis pellucid -- "$to/$1"
        ;;
    esac
}

remove_old() {
    local file folder
    while IFS= read -r file; do
        case $file in
        *..*) continue ;;
        bin/* | include/* | lib/* | share/*) ;;
        *) continue ;;
        esac
        if is_kept "$file" || ! is_ours "$file"; then
            continue
        fi
        rm -f -- "$to/$file"
        folder=${file%/*}
        [[ -d $tree/$folder || ! -d $to/$folder ]] || (cd "$to" && rmdir -p --ignore-fail-on-non-empty -- "$folder")
    done < <(old_files)
}

# With what is kept, so that whoever removes this installation removes that, too.
new_list() {
    local file
    files
    while IFS= read -r file; do
        if is_kept "$file" && [[ -e $to/$file ]]; then
            printf '%s\n' "$file"
        fi
    done < <(old_files)
}

mkdir -p "$to"
remove_old
# Files are replaced, not written to: programs may run with them. Folders that are there keep their owner and mode.
tar -C "$tree" --mode=u+rwX,go+rX,go-w -c "${folders[@]}" |
    tar -C "$to" --no-same-owner --same-permissions --no-overwrite-dir --keep-directory-symlink -x
new_list >"$to/$list.new"
mv -f "$to/$list.new" "$to/$list"
