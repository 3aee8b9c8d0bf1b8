// How the program or script of a request is started: its command line, its folder, its surroundings.
#pragma once

#include <string>
#include <vector>

#include "capture/kinds/program/run.h"
#include "capture/request/options.h"
#include "capture/request/request.h"
#include "capture/system/supervised_child.h"

namespace accelscope::capture::kinds::program {

// A folder that the viewer sent, else one of this host; none named: the folder of the capture.
[[nodiscard]] std::string program_folder(const request::CaptureRequest& request, const std::string& work_folder);

// A script is run by sh from a file in the folder of the capture.
[[nodiscard]] system::ChildStart program_start(const request::CaptureRequest& request, const std::string& work_folder);

// The same with the script in its place: for kinds that run the program.
[[nodiscard]] Result<system::ChildStart> prepare_program(const request::KindRun& run);
// The command for people, or "a script". Fails if there is no such program.
[[nodiscard]] Result<std::string> shown_program(const request::CaptureRequest& request, const std::string& work_folder);

// What a kind that runs a program offers: lines, counters, sample-interval, stop-signal, grace.
[[nodiscard]] std::vector<request::KindOption> program_options();
[[nodiscard]] Result<void> accept_program_options(const request::OptionReader& given);
[[nodiscard]] ProgramRunOptions read_program_options(const request::OptionReader& given);

}  // namespace accelscope::capture::kinds::program
