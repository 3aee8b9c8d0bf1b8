#!/bin/sh
# The main job end to end: an agent with the simulated accelerator, the viewer connected to it over TCP on loopback, live
# timelines, then the session saved and opened again. Usage: run.sh FOLDER_OF_PROGRAMS FOLDER_FOR_RESULTS
set -eu
programs=$1
results=$2
mkdir -p "$results"
log="$results/agent.log"

"$programs/accelscope-agent" simulate --listen 127.0.0.1:0 --once --seconds 8 --rate 100000 >"$log" 2>&1 &
agent=$!
trap 'kill "$agent" 2>/dev/null || true' EXIT INT TERM

# The agent prints its address once it listens.
address=""
for _ in $(seq 100); do
    address=$(sed -n 's/.*listening on \([0-9.:]*[0-9]\).*/\1/p' "$log" | head -n 1)
    [ -n "$address" ] && break
    kill -0 "$agent" 2>/dev/null || break
    sleep 0.1
done
if [ -z "$address" ]; then
    echo "The agent did not start:" >&2
    cat "$log" >&2
    exit 1
fi

window=""
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then window="--window"; fi
"$programs/accelscope" demo "$address" --output-dir "$results" $window
wait "$agent"
trap - EXIT
echo "The agent streamed everything and ended. Results are in $results"
