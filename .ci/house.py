#!/usr/bin/env python3
"""Checks the plan of the house: who may include whom, how many files a folder holds, that the README of a storey
lists its rooms, and that no two types have one name (C++ forbids it across all that is linked together, and no linker
notices), that what the guide promises is held by tests that exist.

Usage: house.py, in the root of the tree. Says every offence and ends with 1 if there is one. house.py --map prints every
room with what its headers say of themselves.
"""
import collections
import os
import re
import subprocess
import sys

# Rooms from left to right: a file includes files of its own folder and of folders further left in its storey. `/*` stands
# for all folders directly below, none of which includes another.
ORDER = {
    "core": """base parquet names model chunk index database store store/salvage scan search lod
        analysis/neuron/facts analysis/vendors analysis/time analysis/source analysis/selection analysis/statistics analysis/memory
        analysis/dependencies analysis/critical_path analysis/compilation analysis/collectives analysis/neuron analysis/tenstorrent analysis/peaks analysis/figures analysis/hierarchy analysis/roofline analysis/hotspots analysis/core_grid analysis/iterations analysis/replay analysis/advice analysis/advice/judges analysis/comparison colour listing/base listing sql/base sql/virtual sql/tables sql/planned sql
        export/base export export/neuron export/traces export/stacks export/tables export/vtune export/tenstorrent export/report export/formats export/dataset
        sqlite_extension""",
    "render": "base shell widgets timeline",
    "capture": """system command_line json request security wire log ingest reach sources/base sources/parquet sources/sqlite sources/tracks sources/pickle sources/torch_memory
        sources/chrome/read sources/chrome/write sources/chrome sources/neuron/read sources/neuron/write sources/neuron sources/neuron/neff
        sources/perfetto/read sources/perfetto/write sources/perfetto
        sources/tt_metal/read sources/tt_metal/write sources/tt_metal sources/tt_ops sources/ttnn sources/tt_noc sources/tracy/read sources/tracy sources/tracy_csv sources/vtune sources/unitrace sources/stacks sources/proton sources/nsys/read sources/nsys/write sources/nsys sources/xplane/read sources/xplane
        sources/rocm/run sources/rocm/rocpd sources/rocm/rpd sources/rocm/results_json sources/rocm/csv sources/rocm/rocprof sources/rocm/compute sources/rocm
        sources/session sources
        sim/kernel sim/output probe probe/zones/include/accelscope probe/zones/include/tracy probe/client probe/itt probe/opencl probe/cuda probe/rocm probe/python probe/zones
        probe/host kinds/base kinds/program kinds/* kinds agent/run agent/viewers agent/control client .""",
    "app": """system persist plan rows session content/memory content/source content/capture content/sql content/axes content/hierarchy content content/why content/comparison view workspace library
        output output/report palette timeline panels panels/* connect frame terminal commands/view commands/analysis mcp commands .""",
}
# And whole storeys: what each may include besides itself.
STOREYS = {"core": (), "render": ("core",), "capture": ("core",), "app": ("core", "render", "capture")}
MOST_FILES = 25
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def files():
    return subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True,
                          check=True).stdout.split()


def places(storey):
    """The rank of every folder of a storey, and the pattern that gave it."""
    return {room: rank for rank, room in enumerate(ORDER[storey].split())}


def room_of(path, ranks):
    """The entry of the order that a file's folder stands for; None if it has no place there."""
    folder = os.path.dirname(path).partition("/")[2] or "."
    if folder in ranks:
        return folder
    above = os.path.dirname(folder) + "/*"
    return above if above in ranks else None


def includes(paths):
    sources = {path for path in paths if path.endswith((".h", ".cpp", ".c"))}
    for path in sorted(sources):
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for name in INCLUDE.findall(file.read()):
                beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
                target = name if name in sources else beside if beside in sources else None
                if target:
                    yield path, target


def wrong_includes(paths):
    ranks = {storey: places(storey) for storey in ORDER}
    for path, target in includes(paths):
        storey, other = path.split("/")[0], target.split("/")[0]
        if storey not in ORDER:
            continue
        if storey != other:
            if other not in STOREYS[storey]:
                yield f"{path}: {storey} may not include {target}"
            continue
        here, there = room_of(path, ranks[storey]), room_of(target, ranks[storey])
        if here is None or there is None:
            yield f"{path if here is None else target}: its folder has no place in the order of {storey}"
        elif os.path.dirname(path) != os.path.dirname(target) and ranks[storey][there] >= ranks[storey][here]:
            yield f"{path}: {here} may not include {target} ({there} is not left of it)"


def crowded(paths):
    count = collections.Counter(os.path.dirname(path) for path in paths if path.endswith((".h", ".cpp", ".c")))
    for folder, number in sorted(count.items()):
        if number > MOST_FILES and folder.split("/")[0] in (*ORDER, "tests"):
            yield f"{folder}: {number} files; a folder holds {MOST_FILES} at most"


def unlisted_rooms(paths):
    """The README of a storey has a row for every room of its order, or for one above it."""
    for storey in ORDER:
        with open(f"{storey}/README.md", encoding="utf-8") as file:
            listed = {name.rstrip("/") for name in re.findall(r"`([\w/]+/)`", file.read())}
        for room in ORDER[storey].split():
            parts = room.removesuffix("/*").split("/")
            if room != "." and not any("/".join(parts[:count]) in listed for count in range(1, len(parts) + 1)):
                yield f"{storey}/README.md: has no row for {room}/"


def print_map(paths):
    """Every room with its lines, and what its headers say of themselves."""
    rooms = collections.defaultdict(list)
    for path in sorted(paths):
        if path.split("/")[0] in ORDER and path.endswith((".h", ".cpp", ".c")):
            rooms[os.path.dirname(path)].append(path)
    for room, inside in sorted(rooms.items()):
        texts = {}
        for path in inside:
            with open(path, encoding="utf-8") as file:
                texts[path] = file.read()
        print(f"\n{room}: {len(inside)} files, {sum(text.count(chr(10)) for text in texts.values())} lines")
        for path, text in texts.items():
            head = " ".join(line[2:].strip() for line in re.match(r"(?://.*\n)*", text).group(0).splitlines())
            if path.endswith(".h") and head:
                print(f"  {os.path.basename(path)}: {re.split(r'(?<=[.]) ', head)[0]}")


def without_text(source):
    """Comments and literals blanked, lines kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), source)


TOKEN = re.compile(r"\b(namespace)\b([^{;=]*)\{|\b(?:enum\s+(?:class|struct)|struct|class|enum|union)\b([^{};()=]*)\{|([{}])")


def types(path):
    """The names of the types that a file defines in a named namespace, qualified."""
    with open(path, encoding="utf-8") as file:
        text = without_text(file.read())
    text = re.sub(r"^\s*#.*(?:\\\n.*)*$", "", text, flags=re.M)
    text = re.sub(r"\balignas\([^)]*\)|\[\[[^\]]*\]\]|\btemplate\s*<[^{};]*?>(?=\s*(?:struct|class))", " ", text)
    stack = []  # of ("namespace", name) and ("other", "")
    for match in TOKEN.finditer(text):
        if match.group(4) == "}":
            if stack:
                stack.pop()
        elif match.group(4) == "{":
            stack.append(("other", ""))
        elif match.group(1):
            stack.append(("namespace", match.group(2).strip() or "?"))
        else:
            head = match.group(3).split(" final")[0].split(":")[0] if "::" not in match.group(3) else match.group(3)
            head = re.split(r"(?<!:):(?!:)", head)[0].strip()
            in_namespace = all(kind == "namespace" for kind, _ in stack)
            names = [name for _, name in stack]
            if in_namespace and "?" not in names and re.fullmatch(r"[\w:]+", head):
                yield "::".join([*names, head])
            stack.append(("other", ""))


# What every room speaks of needs no name before it: errors and numbers, what a session consists of, how it is stored and read.
COMMON = {"core": "base names model chunk index database store scan".split(), "app": []}
NAMESPACES = {"export": "exporting", "sqlite_extension": "sql"}  # a word of the language; the same tables in a library
OPENED = re.compile(r"^namespace (accelscope[\w:]*) \{\n((?:(?:class|struct|enum class) [^{}\n]*;.*\n)*\})?", re.M)


def wrong_namespaces(paths):
    """Namespaces follow rooms. Blocks of nothing but forward declarations are other rooms' affair."""
    for path in paths:
        storey, *rooms = path.split("/")
        if not path.endswith((".h", ".cpp")) or "/include/" in path or storey not in ("core", "app", "capture"):
            continue
        if storey == "capture":
            wanted = "accelscope::"  # of each folder its own
        elif len(rooms) < 2 or rooms[0] in COMMON[storey]:
            continue
        else:
            wanted = f"accelscope::{'app::' if storey == 'app' else ''}{NAMESPACES.get(rooms[0], rooms[0])}"
        with open(path, encoding="utf-8") as file:
            opened = [name for name, forward in OPENED.findall(file.read()) if not forward]
        for name in opened:
            if name == f"accelscope::{storey}" or name == "accelscope" or storey != "capture" and not name.startswith(wanted):
                yield f"{path}: namespace {name}; its room's is {wanted}"


def types_of_one_name(paths):
    where = collections.defaultdict(set)
    for path in paths:
        # Headers for programs of others say the same type once for each way to be compiled.
        if path.endswith((".h", ".cpp")) and path.split("/")[0] in (*ORDER, "tests") and "/include/" not in path:
            for name in types(path):
                if "::" in name:
                    where[name].add(path)
    for name, homes in sorted(where.items()):
        if len(homes) > 1:
            yield f"{name} is defined in {', '.join(sorted(homes))}: rename one, or put it where no other file sees it"


PROMISES = ["assets/guide/promises.md", "assets/guide/security.md"]
TEST_NAME = re.compile(r'\bTEST_CASE\(\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)')


def test_names(paths):
    for path in paths:
        if path.startswith("tests/") and path.endswith(".cpp"):
            with open(path, encoding="utf-8") as file:
                for parts in TEST_NAME.findall(file.read()):
                    yield "".join(re.findall(r'"((?:\\.|[^"\\])*)"', parts)).replace('\\"', '"')


def unheld_promises(paths):
    """Each row of the guide's tables of promises ends with the tests that hold it: names in backticks, * for any text."""
    names = list(test_names(paths))
    for page in PROMISES:
        with open(page, encoding="utf-8") as file:
            rows = re.findall(r"^\|(.*)\|$", file.read(), re.M)
        if not rows:
            yield f"{page}: has no table"
        for row in rows[2:]:
            cells = [cell.strip() for cell in row.split("|")]
            tests = re.findall(r"`([^`]+)`", cells[-1]) if len(cells) > 2 else []
            if not tests:
                yield f"{page}: no test is named for the promise: {cells[0]}"
            for test in tests:
                pattern = re.compile(".*".join(re.escape(part) for part in test.split("*")), re.S)
                if not any(pattern.fullmatch(name) for name in names):
                    yield f"{page}: {cells[0]}: there is no test of the name {test}"


def main():
    paths = [path for path in files() if os.path.exists(path)]
    if sys.argv[1:] == ["--map"]:
        return print_map(paths)
    offences = [*wrong_includes(paths), *crowded(paths), *unlisted_rooms(paths), *wrong_namespaces(paths), *types_of_one_name(paths),
                *unheld_promises(paths)]
    for offence in offences:
        print(offence)
    print(f"{len(paths)} files, {len(offences)} offences against the plan of the house")
    sys.exit(1 if offences else 0)


if __name__ == "__main__":
    main()
