#!/bin/bash
# Installs, uses, upgrades and removes the packages in a bare Debian, and uses the archive and the wheel there: as root, for
# each suite that is named. Usage: bare_system.sh FOLDER_OF_PACKAGES [SUITE...]; without a suite bullseye, bookworm and
# trixie. Bare systems stay in BARE_SYSTEMS (/var/tmp/accelscope-bare) for the next time, and the pictures beside them.
set -euo pipefail
# What is mounted is seen by this script alone, and gone with it.
[ -n "${OWN_MOUNTS:-}" ] || OWN_MOUNTS=1 exec unshare --mount "$0" "$@"

packages=$(cd "$1" && pwd)
shift
suites=("$@")
[ ${#suites[@]} -gt 0 ] || suites=(bullseye bookworm trixie)
store=${BARE_SYSTEMS:-/var/tmp/accelscope-bare}
# A desktop has the first line of these, and what it is tested with the second.
desktop="libgl1-mesa-dri libegl1 shared-mime-info desktop-file-utils
xvfb xauth xdotool python3-venv"

fail() {
    echo "$suite: $1" >&2
    exit 1
}

# The one file that matches.
only() {
    local found=("$packages"/$1)
    [ -f "${found[0]}" ] && [ ${#found[@]} -eq 1 ] || fail "there is not one $1 in $packages"
    echo "${found[0]}"
}

# A package as an older version of it would have been: without a manual page, so that the new one is seen to bring it.
older() {
    local work
    work=$(mktemp -d)
    dpkg-deb -R "$1" "$work/tree"
    sed -i 's/^Version: .*/Version: 0.0.1/' "$work/tree/DEBIAN/control"
    rm "$work/tree/usr/share/man/man1/"*
    dpkg-deb -Znone -b "$work/tree" "$2" >/dev/null
    rm -rf "$work"
}

inside() {
    "${@:2}" chroot "$root" env -i PATH="${programs:-}/usr/sbin:/usr/bin:/sbin:/bin" HOME=/tmp/used LANG=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "$1"
}

install="apt-get install -y -qq --no-install-recommends"

# Without a network. The window is drawn once its picture does not shrink to the little that an empty one shrinks to.
use='
    rm -rf /tmp/used && mkdir /tmp/used && cd /tmp/used
    accelscope simulate --quiet -o run.accel --kernels 3
    accelscope screenshot --quiet run.accel -o run.png --size 1280x720
    [ "$(stat -c %s run.png)" -gt 20000 ]
    programs=$(dirname "$(command -v accelscope)")
    [ -f "$programs/../share/accelscope/guide/index.html" ]'
use_more='
    cd /tmp/used
    written=$(accelscope query run.accel "SELECT value FROM meta WHERE key = '\''written_by'\''" --format csv | tail -n 1)
    [ "$written" = "$(accelscope --version)" ]
    echo "def f(): return 1
for _ in range(100): f()" >program.py
    accelscope-agent run -o own.accel --kind python -- python3 program.py >agent.txt 2>&1 || { cat agent.txt; exit 1; }
    accelscope query own.accel "SELECT count(*) FROM slice WHERE name = '\''f'\''" --format csv | grep -qx 100
    xvfb-run -a -s "-screen 0 1280x720x24 -fbdir /tmp/used" bash -c "
        accelscope run.accel & viewer=\$!
        drawn=0
        for i in \$(seq 240); do
            kill -0 \$viewer
            xdotool search --onlyvisible --name accelscope >/dev/null 2>&1 && drawn=\$(gzip -1c Xvfb_screen0 | wc -c)
            [ \$drawn -gt 40000 ] && break
            sleep 0.25
        done
        cp Xvfb_screen0 window.xwd
        kill \$viewer
        wait \$viewer || true
        [ \$drawn -gt 40000 ]"'
use_wheel='
    cd /tmp/used
    python3 -m venv there
    there/bin/pip install -q --no-index /packages/*.whl
    env -i PATH=/usr/bin:/bin HOME=/tmp/used there/bin/python -m accelscope -o wheel.accel program.py
    [ -s wheel.accel ]'
opens_with='grep -q "application/x-accelscope:\*.accel" /usr/share/mime/globs2 &&
    grep -q "^application/x-accelscope=accelscope.desktop" /usr/share/applications/mimeinfo.cache'

mkdir -p "$store"
for suite in "${suites[@]}"; do
    root=$store/$suite
    programs=
    if [ ! -e "$root/.ready" ]; then
        rm -rf "$root"
        debootstrap --variant=minbase "$suite" "$root" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"} >"$root.log" 2>&1 || fail "no bare system: see $root.log"
        inside "apt-get update -qq; $install ${desktop//$'\n'/ }" >>"$root.log" 2>&1 || fail "see $root.log"
        touch "$root/.ready"
    fi
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    rm -rf "$root/packages" "$root/opt/"*
    mkdir -p "$root/packages" "$root/opt"
    viewer=$(only 'accelscope_*.deb')
    agent=$(only 'accelscope-agent_*.deb')
    archive=$(only 'accelscope-linux-*.tar.gz')
    cp "$viewer" "$agent" "$(only 'accelscope-*.whl')" "$root/packages"
    older "$viewer" "$root/packages/old.deb"

    begin=$SECONDS
    inside "$install /packages/$(basename "$viewer") /packages/$(basename "$agent")" >/dev/null
    inside "$use" unshare --net || fail "the packages do not draw a session"
    first_picture=$((SECONDS - begin))
    inside "$use_more" unshare --net || fail "the packages do not work"
    inside "$use_wheel" || fail "the wheel does not work"
    inside "$opens_with" || fail "a session is not opened by the viewer"
    inside 'apt-get remove -y -qq accelscope' >/dev/null
    inside "$install /packages/old.deb" >/dev/null
    inside "$install /packages/$(basename "$viewer")" >/dev/null
    inside 'test -f /usr/share/man/man1/accelscope.1.gz && accelscope --version' >/dev/null || fail "it cannot be upgraded"
    inside 'apt-get remove -y -qq accelscope accelscope-agent' >/dev/null
    left=$(inside 'find /usr /etc /var/lib -path /var/lib/dpkg -prune -o -iname "*accelscope*" -print')
    [ -z "$left" ] || fail "these stay after it was removed: $left"
    echo "$suite: packages: installed and a session drawn in $first_picture s; used, upgraded, removed"
    mv "$root/tmp/used/run.png" "$store/$suite.png"
    ! command -v convert >/dev/null || convert "xwd:$root/tmp/used/window.xwd" "$store/$suite-window.png"

    begin=$SECONDS
    tar -xzf "$archive" -C "$root/opt"
    programs=/opt/$(basename "$archive" .tar.gz)/bin:
    inside "$use" unshare --net || fail "the archive does not draw a session"
    first_picture=$((SECONDS - begin))
    inside "$use_more" unshare --net || fail "the archive does not work"
    echo "$suite: archive: unpacked and a session drawn in $first_picture s; used"
done
