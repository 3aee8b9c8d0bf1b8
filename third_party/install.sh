#!/bin/sh
# Installs from the packages of Debian 12 and 13 or Ubuntu 24.04 and 26.04 what is missing. Asks for sudo only when
# something is missing and the user is not root.
# Usage: sh third_party/install.sh [--agent-only | --packages | --tests | --checks]
#   nothing        what the programs are built with and run on
#   --agent-only   what the agent alone is built with
#   --packages     what the programs are built with, and what the guide and packages are made and checked with
#   --tests        what the programs are built with, and what the tests need
#   --checks       all but packaging, and what is checked with before a change is taken: sanitizers, fuzzing, format, lint
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
guide="python3-sphinx python3-myst-parser"
packaging="$programs $guide python3-wheel lintian debootstrap"

clang=""
case "${1:-}" in
    "") packages="$programs" ;;
    --agent-only) packages="$agent" ;;
    --packages) packages="$packaging" ;;
    --tests) packages="$tests" ;;
    --checks) packages="$tests $guide" clang="16 19 18 17 20 21 22" ;;
    *)
        echo "install.sh: '$1' is not known; it takes --agent-only, --packages, --tests, --checks or nothing" >&2
        exit 2
        ;;
esac

if ! command -v apt-get >/dev/null; then
    echo "There is no apt-get here. These are the packages' names in Debian: $packages" >&2
    exit 1
fi

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null || true)" = "installed" ]
}

clang_packages() {
    echo "clang-$1 clang-tidy-$1 clang-format-$1 libclang-rt-$1-dev"
}

# Of another package, without which Ubuntu's static OpenSSL is not whole.
of_openssl() {
    ! grep -qs jitterentropy /usr/lib/*/pkgconfig/libcrypto.pc || echo libjitterentropy3-dev
}

missing=""
for package in $packages $(of_openssl); do
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
install() {
    echo "Installing: $*"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}
# shellcheck disable=SC2086  # the lists are meant to be split
install $missing $chosen
for package in $(of_openssl); do
    installed "$package" || install "$package"
done
