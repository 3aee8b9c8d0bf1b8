#!/bin/sh
# Installs from Debian's packages (12 and 13) what is missing. Asks for sudo only when something is missing and the user
# is not root. Usage: sh third_party/install.sh [--agent-only | --tests | --checks]
#   nothing        what the programs are built with and run on
#   --agent-only   what the agent alone is built with
#   --tests        and what the tests need
#   --checks       and what is checked before a change is taken: sanitizers, fuzzing, format, lint
set -eu

agent="g++ cmake ninja-build pkg-config ccache \
libsqlite3-dev libzstd-dev zlib1g-dev liblz4-dev libsnappy-dev libprotozero-dev libxxhash-dev libre2-dev libasio-dev libssl-dev \
libcli11-dev libfmt-dev \
opencl-headers python3-dev"
programs="$agent libsimdjson-dev \
libglfw3-dev libimgui-dev libstb-dev libfreetype-dev libgl-dev libopengl-dev libegl-dev \
fonts-inter fonts-jetbrains-mono fonts-fork-awesome libgl1-mesa-dri libegl1"
tests="$programs doctest-dev xvfb xauth xdotool imagemagick sqlite3 python3 git openssh-client openssh-server iproute2 \
ocl-icd-opencl-dev pocl-opencl-icd libtbb-dev libomp-dev python3-pytest debootstrap"

clang=""
case "${1:-}" in
    "") packages="$programs" ;;
    --agent-only) packages="$agent" ;;
    --tests) packages="$tests" ;;
    --checks) packages="$tests" clang="16 19 18 17" ;;
    *)
        echo "install.sh: '$1' is not known; it takes --agent-only, --tests, --checks or nothing" >&2
        exit 2
        ;;
esac

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" = "installed" ]
}

clang_packages() {
    echo "clang-$1 clang-tidy-$1 clang-format-$1 libclang-rt-$1-dev"
}

missing=""
for package in $packages; do
    installed "$package" || missing="$missing $package"
done
# Of the compiler with the sanitizers any version does: the one that is there, else the first that can be had.
for version in $clang; do
    all=yes
    for package in $(clang_packages "$version"); do
        installed "$package" || all=no
    done
    [ "$all" = no ] || clang=""
done
if [ -z "$missing$clang" ]; then
    echo "Everything that Accelscope needs is installed."
    exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "These packages are missing and need an administrator:$missing${clang:+ clang}" >&2
        exit 1
    fi
    as_root="sudo"
fi
$as_root apt-get update -qq
chosen=""
for version in $clang; do
    if [ -z "$chosen" ] && apt-cache show "clang-tidy-$version" >/dev/null 2>&1; then
        chosen=$(clang_packages "$version")
    fi
done
if [ -n "$clang" ] && [ -z "$chosen" ]; then
    echo "None of clang's versions $clang can be had here." >&2
    exit 1
fi
missing="$missing $chosen"
echo "Installing:$missing"
# shellcheck disable=SC2086  # the list is meant to be split
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
