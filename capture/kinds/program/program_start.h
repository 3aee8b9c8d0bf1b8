// How the program or script of a request is started: its command line, its folder, its surroundings.
#pragma once

#include <string>

#include "capture/kinds/request.h"
#include "capture/process/supervised_child.h"

namespace accelscope::capture {

// A folder that the viewer sent, else one of this host; none named: the folder of the capture.
[[nodiscard]] std::string program_folder(const CaptureRequest& request, const std::string& work_folder);

// A script is run by sh from a file in the folder of the capture, where write_script() puts it.
[[nodiscard]] ChildStart program_start(const CaptureRequest& request, const std::string& work_folder);
[[nodiscard]] Result<void> write_script(const std::string& text, const std::string& work_folder);

}  // namespace accelscope::capture
