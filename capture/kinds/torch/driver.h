// The Python program that runs a user's one under torch.profiler.
#pragma once

#include <string_view>

namespace accelscope::capture::kinds::torch {

// Called as: python DRIVER FOLDER SETTINGS (-c CODE | -m MODULE | SCRIPT) ARGUMENTS...
// SETTINGS is a JSON object: activities (list of cpu, cuda, xpu; empty: all that there are), record_shapes,
// profile_memory, with_stack, with_modules, with_flops, schedule (null, or wait, warmup, active and repeat; steps are
// those of optimizers). Traces go to FOLDER/trace-N.json; if torch cannot be imported, FOLDER/no-torch.txt says why.
// Arguments, exit status and tracebacks are those of the program.
extern const std::string_view kTorchDriver;

}  // namespace accelscope::capture::kinds::torch
