// How the program or script of a request is started: its command line, its folder, its surroundings.
#pragma once

#include <string>
#include <vector>

#include "capture/kinds/program/run.h"
#include "capture/request/options.h"
#include "capture/request/request.h"
#include "capture/system/supervised_child.h"

namespace accelscope::capture {

// A folder that the viewer sent, else one of this host; none named: the folder of the capture.
[[nodiscard]] std::string program_folder(const CaptureRequest& request, const std::string& work_folder);

// A script is run by sh from a file in the folder of the capture, where write_script() puts it.
[[nodiscard]] ChildStart program_start(const CaptureRequest& request, const std::string& work_folder);
[[nodiscard]] Result<void> write_script(const std::string& text, const std::string& work_folder);

// What a program is called and where it runs, for its tracks.
[[nodiscard]] ProgramFacts facts_of(const CaptureRequest& request, const ChildStart& start);

// What a kind that runs a program offers: lines, counters, sample-interval, stop-signal, grace.
[[nodiscard]] std::vector<KindOption> program_options();
[[nodiscard]] Result<ProgramRunOptions> read_program_options(const OptionReader& given);

}  // namespace accelscope::capture
