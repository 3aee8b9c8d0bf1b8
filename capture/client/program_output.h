// What programs print and how they end, read from the events on their way into the session: it survives broken
// connections like everything else, and costs the agent nothing. A decorator of the sinks; everything passes through.
//
//   ProgramOutput output(sinks);
//   AgentFeed feed(output, ...);
//   output.keep();                        // from now on
//   for (const ProgramText& text : output.take()) ...    // any thread
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/ingest/stream_ingest.h"

namespace accelscope::capture::client {

struct ProgramText {
  bool is_error = false;  // of the standard error
  std::string text;       // with its ends of lines
};

class ProgramOutput final : public ingest::SinkProvider {
 public:
  explicit ProgramOutput(ingest::SinkProvider& sinks);
  ~ProgramOutput() override;

  EventSink& sink(std::uint32_t scope) override;

  void keep();                                           // what is printed, until it is taken
  [[nodiscard]] std::vector<ProgramText> take();         // in the order in which it came
  [[nodiscard]] std::vector<ProgramText> take_last();    // once all is over: an open line ends too
  [[nodiscard]] std::optional<int> exit_status() const;  // of the program that ended last; nothing: none has ended

 private:
  class Scope;

  void add_piece(bool is_error, std::string_view text, std::int64_t line, bool whole);
  void set_exit_status(int status);

  // A line that comes in pieces ends when the next one begins.
  struct OpenLine {
    std::int64_t line = 0;
    bool open = false;
  };

  ingest::SinkProvider& sinks_;
  std::map<std::uint32_t, std::unique_ptr<Scope>> scopes_;
  mutable std::mutex mutex_;
  bool keeps_ = false;
  OpenLine open_lines_[2];  // of the standard output and error
  std::vector<ProgramText> texts_;
  std::optional<int> exit_status_;
};

}  // namespace accelscope::capture::client
