// Runs the OpenCL test program under the kind `opencl` and reads back what was written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/system/supervised_child.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture {

struct OpenclRun {
  std::unique_ptr<RecordingSink> retained = std::make_unique<RecordingSink>();
  RecordingSink& sink = *retained;
  system::ChildEnd end;
  std::string printed;  // standard output
  Result<void> result;

  // Events of a table, by start.
  [[nodiscard]] std::vector<RecordedEvent> table(const std::string& schema) const;
  [[nodiscard]] std::map<std::string, std::size_t> count_by_name(const std::string& schema) const;
  // As Details would show them; "" where there is no value.
  [[nodiscard]] std::string text(const RecordedEvent& event, const std::string& column) const;
  [[nodiscard]] std::optional<std::int64_t> number(const RecordedEvent& event, const std::string& column) const;
  [[nodiscard]] std::map<std::string, std::size_t> count_by_text(const std::string& schema,
                                                                 const std::string& column) const;
  [[nodiscard]] const QualityEntry* quality(const std::string& kind) const;
};

// False, with a message for whoever runs the tests, if no OpenCL platform is there.
[[nodiscard]] bool opencl_is_there();
enum class Compiler : std::uint8_t { as_before, anew };  // whether what was compiled for earlier runs may be used
// `options` are settings of the kind: {"arguments", "off"}.
[[nodiscard]] OpenclRun run_traced(const std::vector<std::string>& arguments,
                                   const std::vector<std::pair<std::string, std::string>>& options = {},
                                   Compiler compiler = Compiler::as_before);
// Without a capture.
[[nodiscard]] OpenclRun run_plain(const std::vector<std::string>& arguments);

}  // namespace accelscope::capture
