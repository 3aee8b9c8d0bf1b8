#include "capture/kinds/torch/driver.h"

namespace accelscope::capture::kinds::torch {

const std::string_view kTorchDriver = R"PYTHON(
import json
import os
import runpy
import signal
import sys


def load_profiler(folder):
    try:
        import torch
        import torch.profiler
        return torch
    except ImportError as missing:
        with open(os.path.join(folder, "no-torch.txt"), "w") as file:
            file.write(str(missing))
        sys.stderr.write("torch.profiler cannot be imported: %s\n" % missing)
        sys.exit(1)


def chosen_activities(torch, names):
    known = torch.profiler.ProfilerActivity
    if not names:
        names = ["cpu"]
        for device in ("cuda", "xpu"):
            module = getattr(torch, device, None)
            if module is not None and module.is_available():
                names.append(device)
    return [getattr(known, name.upper()) for name in names]


def make_profiler(torch, folder, settings):
    written = []

    def write(profiler):
        path = os.path.join(folder, "trace-%d.json" % len(written))
        profiler.export_chrome_trace(path)
        written.append(path)

    arguments = {
        name: settings[name]
        for name in ("record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops")
    }
    plan = settings["schedule"]
    if plan is not None:
        arguments["schedule"] = torch.profiler.schedule(**plan)
    profiler = torch.profiler.profile(
        activities=chosen_activities(torch, settings["activities"]), on_trace_ready=write, **arguments)
    if plan is not None:
        from torch.optim.optimizer import register_optimizer_step_post_hook
        register_optimizer_step_post_hook(lambda *ignored: profiler.step())
    return profiler


def run_program(words):
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif words[0] == "-c":
        sys.argv = ["-c"] + words[2:]
        sys.path[0] = ""
        main = type(sys)("__main__")
        sys.modules["__main__"] = main
        exec(compile(words[1], "<string>", "exec"), main.__dict__)
    else:
        sys.argv = list(words)
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))
        runpy.run_path(words[0], run_name="__main__")


def main():
    folder, settings, words = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3:]
    profiler = make_profiler(load_profiler(folder), folder, settings)

    def stop(number, frame):
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    profiler.start()
    try:
        run_program(words)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        profiler.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)


if __name__ == "__main__":
    main()
)PYTHON";

}  // namespace accelscope::capture::kinds::torch
