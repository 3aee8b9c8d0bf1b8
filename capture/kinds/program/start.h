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

// A script is run by sh from a file in the folder of the capture, where write_script() puts it.
[[nodiscard]] system::ChildStart program_start(const request::CaptureRequest& request, const std::string& work_folder);
[[nodiscard]] Result<void> write_script(const std::string& text, const std::string& work_folder);

// What a program is called and where it runs, for its tracks.
[[nodiscard]] ProgramFacts facts_of(const request::CaptureRequest& request, const system::ChildStart& start);

// What a kind that runs a program offers: lines, counters, sample-interval, stop-signal, grace.
[[nodiscard]] std::vector<request::KindOption> program_options();
[[nodiscard]] Result<ProgramRunOptions> read_program_options(const request::OptionReader& given);

}  // namespace accelscope::capture::kinds::program
