// What a program prints is found among its events, whatever else a capture holds.
#include "capture/client/capture_session.h"

#include <doctest/doctest.h>

#include "capture/kinds/program/events.h"
#include "core/chunk/session_writer.h"
#include "tests/capture/recording_sink.h"

namespace accelscope::capture {
namespace {

class OneScope final : public ingest::SinkProvider {
 public:
  EventSink& sink(std::uint32_t /*scope*/) override { return sink_; }

 private:
  RecordingSink sink_;
};

std::string text_of(const std::vector<client::ProgramText>& texts, bool is_error) {
  std::string all;
  for (const client::ProgramText& text : texts) all += text.is_error == is_error ? text.text : "";
  return all;
}

TEST_CASE("lines of both streams come as they were printed, and pieces of a line stay one line") {
  OneScope scopes;
  client::ProgramOutput output(scopes);
  SessionWriter writer(output.sink(0));
  kinds::program::ProgramEvents events(writer, {"sh (7)", "sh", "/"}, true, true);
  events.add_line(system::OutputStream::out, 1, {"not kept yet", 1, 0, 0});
  writer.flush();
  CHECK(output.take().empty());
  output.keep();
  events.add_line(system::OutputStream::out, 2, {"whole", 2, 0, 0});
  events.add_line(system::OutputStream::out, 3, {"Pass", 3, 1, 0});
  events.add_line(system::OutputStream::out, 4, {"word: ", 3, 2, 0});
  events.add_line(system::OutputStream::out, 5, {"next", 4, 0, 0});
  events.add_line(system::OutputStream::err, 6, {"", 1, 0, 0});
  events.add_line(system::OutputStream::err, 7, {"open", 2, 1, 0});
  writer.flush();
  const std::vector<client::ProgramText> texts = output.take();
  CHECK(text_of(texts, false) == "whole\nPassword: \nnext\n");
  CHECK(text_of(texts, true) == "\nopen");
  CHECK(output.take().empty());
  CHECK(text_of(output.take_last(), true) == "\n");
  CHECK_FALSE(output.exit_status());
  writer.set_meta("program.exit_status", "3");
  writer.set_meta("my.program.exit_statuses", "9");
  CHECK(output.exit_status() == 3);
  writer.set_meta("device run.program.exit_status", "4");
  CHECK(output.exit_status() == 4);
}

}  // namespace
}  // namespace accelscope::capture
