#!/bin/sh
# A Debian 11 with nothing in it but Python: glibc 2.31, none of the libraries that programs are built with here. The
# package mirror is the one that this machine's apt uses. Needs root, debootstrap and mount namespaces.
#   bare_debian.sh make ROOT                     prints "ready", or "skipped: " and why
#   bare_debian.sh run ROOT PROGRAMS WORK WORDS...   WORDS there, with the folders as /opt and /mnt, the latter as home
set -eu
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
action=$1 root=$2
shift 2

skip() {
    echo "skipped: $1"
    exit 0
}

mirrors() {
    # shellcheck disable=SC2016  # the names are apt's
    apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 2>/dev/null | sed -n 's/^Debian Debian //p' | sort -u
}

make() {
    [ "$(id -u)" -eq 0 ] || skip "a bare Debian is made by root only"
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    unshare --mount true 2>/dev/null || skip "this machine lets nobody mount anything"
    exec 9>"$root.lock"
    flock 9
    if [ ! -e "$root.ready" ]; then
        proxy=$(apt-config shell p Acquire::http::Proxy | sed "s/^p='\(.*\)'$/\1/")
        [ -z "$proxy" ] || export http_proxy="$proxy"
        for mirror in $(mirrors); do
            rm -rf "$root"
            if debootstrap --variant=minbase --include=python3 bullseye "$root" "$mirror" >"$root.log" 2>&1; then
                touch "$root.ready"
                break
            fi
        done
    fi
    [ -e "$root.ready" ] || skip "no Debian 11 can be had: $(tail -n 1 "$root.log" 2>/dev/null || echo no mirror)"
    echo "ready"
}

# What is mounted is seen by the program alone, and gone with it.
run() {
    exec unshare --mount sh -c '
        root=$1 programs=$2 work=$3
        shift 3
        mount -t proc proc "$root/proc"
        mount -t tmpfs tmpfs "$root/tmp"
        mount -t tmpfs tmpfs "$root/run"
        mount --bind "$programs" "$root/opt"
        mount --bind "$work" "$root/mnt"
        exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/mnt LANG=C.UTF-8 sh -c "cd /mnt && exec \"\$@\"" sh "$@"
    ' sh "$root" "$@"
}

"$action" "$@"
