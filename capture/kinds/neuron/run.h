// One capture with the vendor's tool: programs run, traces found and processed, their profiles written into sinks of
// their own.
#pragma once

#include <string>
#include <vector>

#include "capture/kinds/neuron/files.h"
#include "capture/kinds/neuron/settings.h"
#include "capture/kinds/neuron/tool_steps.h"
#include "capture/request/kind.h"

namespace accelscope::capture::kinds::neuron {

class NeuronRun {
 public:
  // `tool`: its whole path.
  NeuronRun(const request::KindRun& run, EventSink& sink, NeuronSettings settings, std::string tool);

  // A capture that is stopped ends without an error.
  Result<void> run();

 private:
  Result<void> capture_neff(const std::string& neff);
  Result<void> capture_compiled();
  Result<void> inspect_program();

  Result<StepEnd> run_tool(const std::vector<std::string>& arguments, const std::string& folder,
                           std::chrono::nanoseconds limit);
  Result<StepEnd> run_program(const ToolStep& step);
  Result<std::string> choose_compiled(const kinds::program::FolderWatch& watch, const StepEnd& ended);
  Result<void> check_inputs();
  Result<void> process(const std::string& neff, const std::vector<NeuronTrace>& traces);
  Result<void> process_trace(const std::string& neff, const NeuronTrace& trace, const std::string& output);
  Result<void> import_folder(const std::string& folder);
  [[nodiscard]] Result<std::string> new_folder(const std::string& base, const std::string& name);
  [[nodiscard]] Error failure(const std::vector<std::string>& arguments, const StepEnd& ended) const;
  void warn(QualityKind kind, std::string detail, std::uint64_t count = 1);

  const request::KindRun& run_;
  EventSink& sink_;
  NeuronSettings settings_;
  std::string tool_;
  std::string tool_name_;
  std::string base_;  // in which the tool and the program run
  ToolSteps steps_;
  bool stopped_ = false;     // by the user: nothing more is done
  bool after_stop_ = false;  // the program was stopped; what it recorded is read
};

// The path of a file that the viewer sent, else of one of this host: relative to the request's folder.
[[nodiscard]] std::string host_path(const std::string& file, const request::CaptureRequest& request,
                                    const std::string& work_folder);

}  // namespace accelscope::capture::kinds::neuron
