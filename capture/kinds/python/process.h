// One process of a profiled program in Python: what its collector tells (capture/probe/python/records.h)
// becomes nested slices of its threads, signposts and tests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/kinds/base/open_spans.h"
#include "capture/kinds/python/session.h"
#include "capture/probe/bodies.h"
#include "capture/probe/host/reader.h"
#include "capture/probe/python/records.h"

namespace accelscope::capture::kinds::python {

// The calls of one thread, from the order in which they begin and end: paired, nested and written as slices. What has
// lost its begin or end is closed with what surrounds it.

// A function as its slices show it; strings of the session.
struct CodeNames {
  StringId name = 0;
  StringId location = 0;
  StringId module = 0;
  StringId what = 0;
};

class CallStack {
 public:
  CallStack(PythonSession& session, TrackNumber track) : session_(&session), track_(track) {}

  void call(std::uint32_t code, const CodeNames& names, std::int64_t now_ns, bool is_running);
  void leave(std::uint32_t code, std::int64_t now_ns, bool raised);
  // A line of the code, which has to be the innermost call.
  void line(std::uint32_t code, const CodeNames& names, std::int64_t now_ns);
  void begin_collection(const CodeNames& names, std::int64_t now_ns);
  void end_collection(std::int64_t now_ns, std::string_view result);
  void annotate(std::string_view text);
  // Times of a thread never go back, whatever it tells. Every other function is given one of these.
  [[nodiscard]] std::int64_t forward(std::int64_t now_ns) noexcept { return last_ns_ = std::max(last_ns_, now_ns); }
  // Everything that is open ends here without its own end. How many calls that were.
  std::uint64_t close_all(std::int64_t now_ns);

  [[nodiscard]] bool empty() const noexcept { return calls_.empty(); }
  [[nodiscard]] std::int64_t begin_ns() const noexcept { return begin_ns_; }  // of what was told last of where it is
  void set_begin(std::int64_t now_ns) noexcept { begin_ns_ = now_ns; }

 private:
  enum class Kind : std::uint8_t { call, line, collection };
  struct Open {
    Kind kind = Kind::call;
    bool partial = false;
    bool raised = false;
    std::uint32_t code = 0;
    CodeNames names;
    StringId caller = 0;
    std::int64_t begin_ns = 0;
    std::int64_t inner_ns = 0;
    std::unique_ptr<std::string> metadata;  // few have any
  };
  void open(Kind kind, std::uint32_t code, const CodeNames& names, std::int64_t now_ns, bool partial);
  [[nodiscard]] std::size_t find(Kind kind, std::uint32_t code) const;
  // What ends the spans that are open at that time. Calls that are left open become partial; lines and collections tell
  // of no end.
  [[nodiscard]] auto writer_of(std::int64_t now_ns) {
    return [this, now_ns](Open& span, std::size_t depth, bool left_open) {
      span.partial = span.partial || (left_open && span.kind == Kind::call);
      write(span, depth, now_ns);
    };
  }
  void write(const Open& span, std::size_t depth, std::int64_t now_ns);
  [[nodiscard]] bool reserve_lane(std::size_t depth);  // false: its calls are not shown

  PythonSession* session_;
  TrackNumber track_;
  std::uint32_t lanes_ = 0;  // that its track has
  std::int64_t begin_ns_ = 0;
  std::int64_t last_ns_ = 0;
  NestedSpans<Open> calls_;
};

class PythonProcess final : public probes::ProcessReader {
 public:
  // `turned`: called after each turn of reading.
  PythonProcess(const probes::ProbeProcess& process, PythonSession& session, std::function<void()> turned = {});

  void thread(const probes::ProbeThread& thread) override;
  void define(std::uint32_t type, std::string_view bytes) override;
  void record(const probes::ProbeThread& thread, probe::RecordHead head, std::span<const std::uint64_t> words) override;
  void thread_ended(const probes::ProbeThread& thread, std::int64_t now_ns) override;
  void ended(const probes::ProbeEnd& end) override;
  void read_until(std::int64_t now_ns) override;

 private:
  struct Code {
    CodeNames names;
    std::string path;  // "" : has no file
  };
  struct Text {
    std::string first, second;
    std::uint64_t number = 0;
  };
  struct OpenTest {
    std::int64_t begin_ns = 0;
    StringId id = 0;
    StringId location = 0;
  };

  void define_code(probe::BodyReader& body);
  void define_meta(probe::BodyReader& body);
  [[nodiscard]] std::int64_t time_of(std::uint64_t ticks) const noexcept;
  [[nodiscard]] CallStack* stack_of(const probes::ProbeThread& thread);  // null: there were too many threads
  [[nodiscard]] const Code* code_of(std::uint32_t number) const noexcept;
  // False: the record is not what a collector writes.
  [[nodiscard]] bool take_call(const probes::ProbeThread& thread, probe::RecordHead head,
                               std::span<const std::uint64_t> words, std::int64_t now_ns);
  [[nodiscard]] bool take_text(const probes::ProbeThread& thread, probe::RecordHead head,
                               std::span<const std::uint64_t> words, std::int64_t now_ns);
  void annotate(const probes::ProbeThread& thread, const std::string& text);
  void add_signpost(const probes::ProbeThread& thread, std::uint32_t code_number, std::int64_t now_ns,
                    const Text& text);
  [[nodiscard]] CodeNames line_names(std::uint32_t number, std::uint32_t line);
  [[nodiscard]] CodeNames collection_names(std::uint32_t generation);
  [[nodiscard]] StringId location(const std::string& path, std::uint64_t line);
  [[nodiscard]] TrackNumber extra_track(std::optional<TrackNumber>& track, const char* name, SchemaNumber schema,
                                        std::int64_t order);
  void begin_test(std::uint32_t phase, std::int64_t now_ns, const Text& text);
  void end_test(std::uint32_t phase, std::int64_t now_ns, std::string_view outcome);

  const probes::ProbeProcess& process_;
  PythonSession& session_;
  std::function<void()> turned_;
  std::string device_;
  std::string library_;
  std::string directory_;
  std::vector<Code> codes_;
  std::unordered_map<std::uint64_t, CodeNames> lines_;  // of code << 32 | line
  struct Stack {
    bool known = false;
    std::unique_ptr<CallStack> calls;  // null: the thread has none, or there were too many threads
  };
  std::vector<Stack> stacks_;                  // by the thread's index
  std::optional<std::int64_t> region_end_ns_;  // all other threads' calls end there
  std::optional<TrackNumber> signposts_;
  std::optional<TrackNumber> tests_;
  std::array<std::optional<OpenTest>, 4> open_tests_;  // by TestPhase
};

}  // namespace accelscope::capture::kinds::python
