"""`python -m accelscope ...`: runs a program of Python in a capture.

The program is started in place of this process, as it would be without `-m accelscope`, so that nothing about it
differs; an environment variable and start/sitecustomize.py turn the collector on. Where no agent waits, one is run.
"""
import errno
import os
import shutil
import socket
import sys

USAGE = """\
usage: python -m accelscope [-p] [-l] [-o FILE] [-f] (SCRIPT | -m MODULE | -c CODE) [ARGUMENT ...]

Profiles a program of Python with Accelscope.

  -p          only what runs between Profiler().enable() and disable()
  -l          every line, not only functions
  -o FILE     the session file; else SCRIPT.accel. Inside a capture the capture's own
  -f          replace the session file if it exists

example: python -m accelscope -l train.py --steps 10
         python -m accelscope -m pytest tests
"""


def fail(text, status=2):
    sys.stderr.write("accelscope: " + text + "\n")
    sys.exit(status)


def read_words(words):
    """(chosen, program): options before the program, and the program with its arguments as Python takes them."""
    chosen = {"enabled": False, "lines": False, "output": None, "force": False}
    at = 0
    while at < len(words):
        word = words[at]
        if word in ("-h", "--help"):
            sys.stdout.write(USAGE)
            sys.exit(0)
        if word == "-p":
            chosen["enabled"] = True
        elif word == "-l":
            chosen["lines"] = True
        elif word in ("-pl", "-lp"):
            chosen["enabled"] = chosen["lines"] = True
        elif word in ("-f", "--force"):
            chosen["force"] = True
        elif word in ("-o", "--output"):
            at += 1
            if at == len(words):
                fail("-o needs a file name\n\n" + USAGE)
            chosen["output"] = words[at]
        elif word.startswith("-") and word != "-" and word[:2] not in ("-m", "-c"):
            fail(word + ": no such option\n\n" + USAGE)
        else:
            break
        at += 1
    program = words[at:]
    if not program or program in (["-m"], ["-c"]):
        fail("a script, -m MODULE or -c CODE is missing\n\n" + USAGE)
    return chosen, program


def original_words():
    """The words this process was started with; Python keeps them since 3.10."""
    if hasattr(sys, "orig_argv"):
        return sys.orig_argv
    with open("/proc/self/cmdline", "rb") as file:
        return [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]


def interpreter_words():
    """The interpreter as it was called, with its own options."""
    words = original_words()
    for at in range(1, len(words)):
        if words[at:at + 2] == ["-m", "accelscope"]:
            return words[:at]
        if words[at].endswith("-maccelscope") or words[at].startswith("-maccelscope"):
            return words[:at]
    return words[:1]


def name_of(program):
    """What a session of it is called."""
    if program[0].startswith("-c"):
        return "python"
    if program[0].startswith("-m"):
        return program[0][2:] or program[1]
    return os.path.splitext(os.path.basename(program[0]))[0] or "python"


def waiting_agent():
    """Whether an agent of this user waits for programs that are started by hand."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = os.path.join(runtime, "accelscope") if runtime else "/tmp/accelscope-%d" % os.getuid()
    return os.path.exists(os.path.join(folder, "python.sock")) and accepts(os.path.join(folder, "python.sock"))


def accepts(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(path)
        except OSError as error:
            # The kind of socket is another one where somebody listens; nothing is sent to it.
            return error.errno == errno.EPROTOTYPE
    return False


def find_agent():
    named = os.environ.get("ACCELSCOPE_AGENT")
    if named:
        return named
    folder = os.path.dirname(os.path.abspath(__file__))
    for _ in range(4):
        folder = os.path.dirname(folder)
        for place in ("accelscope-agent", os.path.join("bin", "accelscope-agent")):
            path = os.path.join(folder, place)
            if os.access(path, os.X_OK) and os.path.isfile(path):
                return path
    return shutil.which("accelscope-agent")


def settings_of(chosen):
    settings = []
    if chosen["enabled"]:
        settings.append("functions=enabled")
    if chosen["lines"]:
        settings.append("line-times=on")
    return settings


def run_agent(chosen, command, program):
    agent = find_agent()
    if agent is None:
        fail("accelscope-agent is not found; add its folder to PATH, or set ACCELSCOPE_AGENT to its path", 1)
    output = chosen["output"] or name_of(program) + ".accel"
    words = [agent, "run", "-o", output, "--kind", "python"]
    words += ["--" + setting for setting in settings_of(chosen)]
    if chosen["force"]:
        words.append("--force")
    try:
        os.execv(agent, words + ["--"] + command)
    except OSError as error:
        fail("%s: %s; set ACCELSCOPE_AGENT to the path of accelscope-agent" % (agent, error.strerror), 1)


def run_program(chosen, command, program):
    environment = dict(os.environ)
    start = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start")
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path and path != start]
    environment["PYTHONPATH"] = os.pathsep.join([start] + paths)
    if settings_of(chosen):
        environment["ACCELSCOPE_PYTHON"] = ";".join(settings_of(chosen))
    if program[:2] == ["-m", "pytest"] or os.path.basename(program[0]) in ("-mpytest", "pytest", "py.test"):
        plugins = [name for name in environment.get("PYTEST_PLUGINS", "").split(",") if name]
        environment["PYTEST_PLUGINS"] = ",".join(plugins + ["accelscope.pytest_plugin"])
    os.execve(sys.executable, command, environment)


def main():
    if sys.version_info < (3, 9):
        fail("Python 3.9 or later is needed; this is %d.%d" % sys.version_info[:2], 1)
    chosen, program = read_words(sys.argv[1:])
    if sys.flags.ignore_environment or sys.flags.no_site:
        fail("the interpreter's options -I, -E and -S keep the collector out; leave them away")
    command = interpreter_words() + program
    folder = os.environ.get("ACCELSCOPE_PROBES")
    if folder and chosen["output"] is None:
        if not os.path.exists(os.path.join(folder, "python.sock")):
            fail("the capture that runs here does not take Python; add the kind `python` to it", 1)
        run_program(chosen, command, program)
    elif chosen["output"] is None and waiting_agent():
        run_program(chosen, command, program)
    else:
        run_agent(chosen, [sys.executable] + interpreter_words()[1:] + ["-m", "accelscope"] + program, program)
