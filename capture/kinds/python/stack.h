// The calls of one thread, from the order in which they begin and end: paired, nested and written as slices. What has
// lost its begin or end is closed with what surrounds it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "capture/kinds/base/open_spans.h"
#include "capture/kinds/python/session.h"

namespace accelscope::capture::kinds::python {

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

}  // namespace accelscope::capture::kinds::python
