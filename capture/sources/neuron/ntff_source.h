// Raw traces of the Neuron runtime (.ntff, with the .neff of the program that ran). Their format is the vendor's own
// affair: the vendor's tool converts them where it is installed, and the result is read as any other profile. Where it
// is not, the error names the command to run elsewhere.
#pragma once

#include <string>

#include "capture/sources/base/source.h"

namespace accelscope::capture::sources::neuron {

// By the file's ending; a text file with that ending is none.
[[nodiscard]] int probe_ntff(std::string_view head, const std::string& path);

// `path` is the trace, or the program of the only trace that belongs to it.
Result<void> import_ntff(const std::string& path, const ImportOptions& options, EventSink& sink);

// The program of a trace: the file beside it of the same name, with the number that the trace's name carries, or the
// only one in its folder or the one above. "" if none can be told.
[[nodiscard]] std::string find_neff(const std::string& ntff_path);

}  // namespace accelscope::capture::sources::neuron
