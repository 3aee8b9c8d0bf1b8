#!/usr/bin/env python3
"""Makes the guide: pictures of simulated sessions and lists that the program prints, then pages by Sphinx.

Usage: make_guide.py ACCELSCOPE FOLDER        the pages, in FOLDER
       make_guide.py ACCELSCOPE --commands    runs every command of the guide; the first that fails ends it

A command begins with "$ " in a block of the language console, and goes on up to the next. Those of a page run in one empty
folder, with the programs and stand_ins/ first on the PATH.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SOURCE = Path(__file__).resolve().parent

# Sessions that pictures are of, by the options of simulate.
SESSIONS = {
    "layer": ["--kernels", "6"],
    "slower": ["--kernels", "6", "--slower", "8"],
    "ranks": ["--devices", "8", "--ranks", "--straggler", "5", "--late", "40us", "--kernels", "6"],
}
# The session of each, and options of screenshot. A panel's is named as the panel, which fills the window.
WINDOW, PANEL = ["--size", "1600x900", "--scale", "1.25"], ["--size", "1650x900", "--scale", "1.5"]
MATMUL = "SELECT id FROM instruction WHERE opcode = 'MATMUL' LIMIT 1"
PICTURES = {
    "timeline": ("layer", [*WINDOW, "--range", "1.9ms:2.2ms", "--panel", "source", "--panel", "warnings"]),
    "beside": ("layer", [*WINDOW, "--beside", "slower"]),
    "compare": ("layer", [*PANEL, "--beside", "slower", "--panel", "compare!"]),
    "collectives": ("ranks", [*PANEL, "--panel", "collectives!"]),
    "details": ("layer", [*PANEL, "--select", MATMUL, "--panel", "details!"]),
    "search": ("layer", [*PANEL, "--search", "dur>2us", "--panel", "search!"]),
}
for panel in """source selection layers hotspots statistics iterations warnings why roofline memory core-grid tables
                metrics""".split():
    PICTURES[panel] = ("layer", [*PANEL, "--panel", f"{panel}!"])


def run(*command, **how):
    return subprocess.run([str(word) for word in command], check=True, text=True, capture_output=True, **how).stdout


def make_pictures(accelscope, folder, workers):
    folder.mkdir()
    with tempfile.TemporaryDirectory() as work:
        files = {name: Path(work) / f"{name}.accel" for name in SESSIONS}

        def simulate(name):
            run(accelscope, "simulate", "--quiet", "-o", files[name], *SESSIONS[name])

        def draw(picture):
            session, options = PICTURES[picture]
            values = dict(files)
            if MATMUL in options:
                values[MATMUL] = run(accelscope, "query", files[session], MATMUL, "--format", "csv").split()[-1]
            run(accelscope, "screenshot", "--quiet", files[session], "-o", folder / f"{picture}.png", "--theme", "dark",
                *(values.get(word, word) for word in options))

        list(workers.map(simulate, SESSIONS))
        list(workers.map(draw, PICTURES))


def make_glossary(accelscope, page):
    groups = {}
    for term in json.loads(run(accelscope, "view", "--terminology", "--json")):
        groups.setdefault(term["group"], []).append(term)
    lines = ["# Glossary", "", "What the figures mean, as `accelscope view --terminology NAME` says it."]
    for group, terms in groups.items():
        lines += ["", f"## {group.replace('_', ' ').capitalize()}", "", "| figure | unit | what it is | how it is found |", "|---|---|---|---|"]
        for term in terms:
            cells = [f"`{term['name']}`", term["unit"], term["text"], term["how"]]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    page.write_text("\n".join(lines) + "\n")


def make(accelscope, folder):
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(os.cpu_count()) as workers:
        source = Path(work) / "source"
        shutil.copytree(SOURCE, source)
        shutil.copy(SOURCE.parent / "package" / "accelscope.svg", source)
        make_pictures(accelscope, source / "pictures", workers)
        make_glossary(accelscope, source / "glossary.md")
        (source / "keys.md").write_text(run(accelscope, "manual", "keys"))
        environment = dict(os.environ, ACCELSCOPE_VERSION=run(accelscope, "--version").split()[-1])
        made = Path(work) / "made"
        built = subprocess.run(["sphinx-build", "-q", "-b", "html", "-d", Path(work) / "trees", source, made],
                               env=environment)
        if built.returncode != 0:
            sys.exit("the pages have errors")
        shutil.rmtree(made / ".doctrees", ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)


def commands_of(page):
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(), re.M | re.S):
        yield from re.split(r"^\$ ", block, flags=re.M)[1:]


def run_commands(accelscope):
    path = [Path(accelscope).resolve().parent, SOURCE / "stand_ins", os.environ["PATH"]]
    environment = dict(os.environ, PATH=":".join(str(each) for each in path))
    count = 0
    for page in sorted(SOURCE.rglob("*.md")):
        with tempfile.TemporaryDirectory() as work:
            for command in commands_of(page):
                done = subprocess.run(["bash", "-c", command], cwd=work, env=environment, capture_output=True, text=True)
                count += 1
                if done.returncode != 0:
                    sys.exit(f"{page.relative_to(SOURCE)}: {command}\nended with {done.returncode}: {done.stdout}{done.stderr}")
    print(f"{count} commands of the guide work")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if sys.argv[2] == "--commands":
        run_commands(sys.argv[1])
    else:
        make(sys.argv[1], Path(sys.argv[2]))
