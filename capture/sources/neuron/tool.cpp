#include "capture/sources/neuron/tool.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "capture/system/child_process.h"

namespace accelscope::capture::sources::neuron {
namespace {

constexpr const char* kToolFolder = "/opt/aws/neuron/bin";
constexpr std::size_t kShownOutput = 2000;

constexpr std::string_view kBusy =
    "the device is busy: neuron-ls shows which process holds its cores; end that, or choose other cores with "
    "NEURON_RT_VISIBLE_CORES in the environment";
constexpr std::string_view kNoMemory =
    "the device's memory does not suffice: end other programs on it, try --single-io (its outputs are wrong, its times "
    "are not), or leave out --enable-dge-notifs";
constexpr std::string_view kNoDevice =
    "no device was found: check that neuron-ls lists one and that the driver (aws-neuronx-dkms) is loaded";
constexpr std::string_view kOtherVersion =
    "this tool does not read traces of that version: use the tool of the release that made the trace";
constexpr std::string_view kUnknownOption =
    "this release of the tool does not know one of the options: leave that one out, or use another release";

// Words of the runtime's and the tool's messages, in lower case. The first that are found count.
struct Advice {
  std::string_view words;
  std::string_view text;
};
constexpr Advice kAdvice[] = {
    {"resource busy", kBusy},        {"device is busy", kBusy},       {"(s) not available", kBusy},
    {"nc not available", kBusy},     {"nrt_resource", kNoMemory},     {"out of memory", kNoMemory},
    {"no neuron device", kNoDevice}, {"ntff version", kOtherVersion}, {"unknown flag", kUnknownOption},
};

}  // namespace

const std::vector<std::string>& neuron_tool_names() {
  static const std::vector<std::string> kNames = {"neuron-profile", "neuron-explorer"};
  return kNames;
}

std::string find_neuron_tool(std::string_view wanted) {
  for (const std::string& name : neuron_tool_names()) {
    if (!wanted.empty() && name != wanted) continue;
    if (std::string tool = system::find_program(name, {kToolFolder}); !tool.empty()) return tool;
  }
  return {};
}

std::vector<std::string> neuron_view_arguments(const std::string& neff, const std::string& ntff,
                                               const std::string& output) {
  return {"view", "-n", neff, "-s", ntff, "--output-format", "json", "--output-file", output};
}

std::string shown_output(std::string text) {
  if (text.size() > kShownOutput) text = "..." + text.substr(text.size() - kShownOutput);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.empty() ? "it printed nothing" : "it printed:\n" + text;
}

std::string advice_on_failure(std::string_view output) {
  std::string lower(output);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = std::find_if(std::begin(kAdvice), std::end(kAdvice),
                                  [&](const Advice& advice) { return lower.find(advice.words) != std::string::npos; });
  return found == std::end(kAdvice) ? std::string() : std::string(found->text);
}

}  // namespace accelscope::capture::sources::neuron
