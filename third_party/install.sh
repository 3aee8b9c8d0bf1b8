#!/bin/sh
# Installs from Debian's packages what is missing for building, testing and running Accelscope. Asks for sudo only when
# something is missing and the user is not root. Usage: sh third_party/install.sh [--build-only | --agent-only]
set -eu

agent="g++ cmake ninja-build pkg-config ccache \
libsqlite3-dev libzstd-dev zlib1g-dev liblz4-dev libsnappy-dev libprotozero-dev libxxhash-dev libre2-dev libasio-dev libssl-dev \
libcli11-dev libfmt-dev \
opencl-headers python3-dev"
build="$agent libsimdjson-dev \
libglfw3-dev libimgui-dev libstb-dev libfreetype-dev libgl-dev libopengl-dev libegl-dev \
fonts-inter fonts-jetbrains-mono fonts-fork-awesome libgl1-mesa-dri libegl1"
checks="doctest-dev clang-16 clang-tidy-16 clang-format-16 libclang-rt-16-dev \
xvfb xauth xdotool imagemagick sqlite3 python3 git openssh-client openssh-server iproute2 \
ocl-icd-opencl-dev pocl-opencl-icd libtbb-dev libomp-dev python3-pytest debootstrap"

packages="$build $checks"
[ "${1:-}" = "--build-only" ] && packages="$build"
[ "${1:-}" = "--agent-only" ] && packages="$agent"

missing=""
for package in $packages; do
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" != "installed" ]; then
        missing="$missing $package"
    fi
done
if [ -z "$missing" ]; then
    echo "Everything that Accelscope needs is installed."
    exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "These packages are missing and need an administrator:$missing" >&2
        exit 1
    fi
    as_root="sudo"
fi
echo "Installing:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086  # the list is meant to be split
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
