#!/usr/bin/env python3
"""Lints the product's files: each compiles by itself, so that it includes what it uses, and clang-tidy finds nothing.

clang-tidy reads the pieces of the unity build: headers are then read once for a dozen files, and it takes a quarter of
the time. Usage: lint.py FOLDER_OF_DEV_BUILD FOLDER_OF_UNITY_BUILD, both configured.
"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOMS = "(core|capture|render|app)"
TIDY = next(filter(shutil.which, (f"clang-tidy-{version}" for version in (16, 19, 18, 17, 20, 21, 22))), "clang-tidy")


def commands_of(build):
    with open(os.path.join(build, "compile_commands.json")) as file:
        return json.load(file)


def failed(arguments, folder):
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout, end="", flush=True)
        print("\n".join(line for line in done.stderr.splitlines() if "warnings generated" not in line), flush=True)
    return done.returncode != 0


def alone(entry):
    words = shlex.split(entry["command"])
    if "ccache" in " ".join(words[:8]):
        words = words[next(i for i, word in enumerate(words) if word.endswith("ccache")) + 1:]
    output = words.index("-o")
    return failed(words[:output] + words[output + 2:] + ["-fsyntax-only"], entry["directory"])


def tidy(build, path):
    return failed([TIDY, "-p", build, "--quiet", "--checks=-bugprone-suspicious-include",
                   f"--header-filter=/{ROOMS}/.*\\.(h|cpp)$", "--extra-arg=-Wno-unknown-warning-option",
                   "--extra-arg=-Wno-unused-command-line-argument", path], ".")


def main():
    dev, unity = sys.argv[1:]
    root = os.getcwd()
    files = {entry["file"]: entry for entry in commands_of(dev)
             if re.match(f"{re.escape(root)}/{ROOMS}/.*\\.cpp$", entry["file"])}
    pieces = sorted({entry["file"] for entry in commands_of(unity)
                     if re.search(f"/{ROOMS}/.*/Unity/.*\\.cxx$", entry["file"])})
    if not files or not pieces:
        sys.exit("lint.py: nothing to read; are both builds configured?")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [pool.submit(tidy, unity, piece) for piece in pieces]
        work += [pool.submit(alone, entry) for entry in files.values()]
        bad = sum(each.result() for each in work)
    print(f"{len(files)} files alone, {len(pieces)} pieces with clang-tidy: {bad} with something to mend")
    sys.exit(1 if bad else 0)


main()
