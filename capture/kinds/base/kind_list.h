// The kinds of capture, in the order in which they are shown: a line each, so that changes do not meet. Each is made by
// its folder.
#pragma once

#include "capture/request/kind.h"

namespace accelscope::capture::kinds {

// clang-format off
namespace program   { request::CaptureKind program_kind(); }     // any program: what it prints and what it uses
namespace itt       { request::CaptureKind itt_kind(); }         // what programs tell of themselves
namespace python    { request::CaptureKind python_kind(); }      // functions and lines, signposts, tests
namespace simulate  { request::CaptureKind simulate_kind(); }    // the simulated accelerator
namespace replay    { request::CaptureKind replay_kind(); }      // files, played as if they were captured now
namespace neuron    { request::CaptureKind neuron_kind(); }      // devices, by the vendor's tool
namespace tt_metal  { request::CaptureKind tt_metal_kind(); }    // the device's log, while it is written
namespace tt_metal  { request::CaptureKind tt_profile_kind(); }  // a command run twice, as profile_this.py does
namespace unitrace  { request::CaptureKind unitrace_kind(); }    // programs under Intel's unitrace
namespace torch     { request::CaptureKind torch_kind(); }       // programs under torch.profiler
namespace opencl    { request::CaptureKind opencl_kind(); }      // programs that use OpenCL, through a layer
// clang-format on

inline constexpr request::CaptureKind (*kKinds[])() = {
    program::program_kind,   itt::itt_kind,       python::python_kind,     simulate::simulate_kind,
    replay::replay_kind,     neuron::neuron_kind, tt_metal::tt_metal_kind, tt_metal::tt_profile_kind,
    unitrace::unitrace_kind, torch::torch_kind,   opencl::opencl_kind,
};

}  // namespace accelscope::capture::kinds
