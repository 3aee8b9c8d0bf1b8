#include "capture/kinds/python/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "capture/json/json_cursor.h"
#include "core/base/format.h"

namespace accelscope::capture::kinds::python {

void CallStack::open(Kind kind, std::uint32_t code, const CodeNames& names, std::int64_t now_ns, bool partial) {
  const std::size_t caller =
      kind == Kind::line ? calls_.kNone : calls_.find([](const Open& outer) { return outer.kind == Kind::call; });
  calls_.begin({.kind = kind,
                .partial = partial,
                .code = code,
                .names = names,
                .caller = caller == calls_.kNone ? 0 : calls_[caller].names.name,
                .begin_ns = now_ns});
}

bool CallStack::reserve_lane(std::size_t depth) {
  while (lanes_ <= depth) {
    if (lanes_ >= PythonSession::kMaxDepth || !session_->take_lane()) {
      ++session_->deep_calls;
      return false;
    }
    ++lanes_;
  }
  return true;
}

void CallStack::write(const Open& span, std::size_t depth, std::int64_t now_ns) {
  const std::int64_t duration = now_ns - span.begin_ns;
  if (depth > 0) calls_[depth - 1].inner_ns += duration;
  if (!reserve_lane(depth)) return;
  Row row = session_->writer.begin_event_at(track_, static_cast<std::uint32_t>(depth), span.begin_ns, duration,
                                            span.names.name);
  if (span.names.location != 0) row.string(kLocation, span.names.location);
  if (span.names.module != 0) row.string(kModule, span.names.module);
  row.string(kWhat, span.names.what);
  if (span.caller != 0) row.string(kCaller, span.caller);
  row.integer(kSelf, duration - span.inner_ns);
  if (span.raised) row.boolean(kRaised, true);
  if (span.partial) row.boolean(kPartial, true);
  if (span.metadata != nullptr) row.text(kMetadata, *span.metadata);
}

std::size_t CallStack::find(Kind kind, std::uint32_t code) const {
  return calls_.find([=](const Open& span) { return span.kind == kind && span.code == code; });
}

void CallStack::call(std::uint32_t code, const CodeNames& names, std::int64_t now_ns, bool is_running) {
  open(Kind::call, code, names, now_ns, is_running);
}

void CallStack::leave(std::uint32_t code, std::int64_t now_ns, bool raised) {
  const std::size_t at = find(Kind::call, code);
  if (at == calls_.kNone) return;  // called before the collection
  calls_[at].raised = raised;
  calls_.end(at, writer_of(now_ns));
}

void CallStack::line(std::uint32_t code, const CodeNames& names, std::int64_t now_ns) {
  const std::size_t at = find(Kind::call, code);
  if (at == calls_.kNone) return;
  calls_.end_inside(at + 1, writer_of(now_ns));
  open(Kind::line, code, names, now_ns, false);
}

void CallStack::begin_collection(const CodeNames& names, std::int64_t now_ns) {
  open(Kind::collection, 0, names, now_ns, false);
}

void CallStack::end_collection(std::int64_t now_ns, std::string_view result) {
  const std::size_t at = find(Kind::collection, 0);
  if (at == calls_.kNone) return;
  calls_[at].metadata = std::make_unique<std::string>(result);
  calls_.end(at, writer_of(now_ns));
}

void CallStack::annotate(std::string_view text) {
  const std::size_t at = calls_.find([](const Open& span) { return span.kind == Kind::call; });
  if (at == calls_.kNone) return;
  if (calls_[at].metadata == nullptr) calls_[at].metadata = std::make_unique<std::string>();
  std::string& metadata = *calls_[at].metadata;
  constexpr std::size_t kMaxBytes = 64U << 10;  // of all that a call is given
  if (metadata.size() + text.size() < kMaxBytes) metadata.append(metadata.empty() ? "" : "\n").append(text);
}

std::uint64_t CallStack::close_all(std::int64_t now_ns) {
  const auto is_call = [](const Open& span) { return span.kind == Kind::call; };
  const auto calls = std::count_if(calls_.all().begin(), calls_.all().end(), is_call);
  calls_.end_inside(0, writer_of(forward(now_ns)));
  return static_cast<std::uint64_t>(calls);
}

namespace {

using probe::RecordHead;
namespace records = probe::python;

// Flags of a code object: Include/cpython/code.h.
constexpr std::uint32_t kNewLocals = 0x2;  // bodies of classes and modules have none
constexpr std::uint32_t kGenerator = 0x20;
constexpr std::uint32_t kCoroutine = 0x80;
constexpr std::uint32_t kAsyncGenerator = 0x200;

constexpr std::size_t kLineChars = 60;
constexpr std::int64_t kTestsOrder = -2;  // above the threads
constexpr std::int64_t kSignpostsOrder = -1;
constexpr std::array<const char*, 4> kPhases = {"test", "setup", "call", "teardown"};

[[nodiscard]] const char* what_of(std::uint32_t flags, std::string_view name) {
  if ((flags & records::kNativeCode) != 0) return "built-in";
  if ((flags & kAsyncGenerator) != 0) return "async generator";
  if ((flags & kCoroutine) != 0) return "coroutine";
  if ((flags & kGenerator) != 0) return "generator";
  if (name == "<module>") return "module";
  return (flags & kNewLocals) != 0 ? "function" : "class body";
}

}  // namespace

PythonProcess::PythonProcess(const probes::ProbeProcess& process, PythonSession& session, std::function<void()> turned)
    : process_(process), session_(session), turned_(std::move(turned)), device_(process.title()) {}

// Its track is made with its first record: it may have come for a signpost only.
void PythonProcess::thread(const probes::ProbeThread& thread) { static_cast<void>(thread); }

CallStack* PythonProcess::stack_of(const probes::ProbeThread& thread) {
  if (thread.index >= stacks_.size()) stacks_.resize(thread.index + std::size_t{1});
  Stack& stack = stacks_[thread.index];
  if (stack.known) return stack.calls.get();
  stack.known = true;
  if (!session_.take_thread()) {
    ++session_.threads_left_out;
    return nullptr;
  }
  const std::string name = thread.name.empty() ? fmt::format("thread {}", thread.id) : json::repair_utf8(thread.name);
  const TrackNumber track = session_.writer.add_track({.name = name,
                                                       .kind = "host_thread",
                                                       .device = device_,
                                                       .schema = session_.tables[PythonTable::call],
                                                       .order = static_cast<std::int64_t>(thread.index)});
  stack.calls = std::make_unique<CallStack>(session_, track);
  return stack.calls.get();
}

TrackNumber PythonProcess::extra_track(std::optional<TrackNumber>& track, const char* name, SchemaNumber schema,
                                       std::int64_t order) {
  if (!track) {
    track = session_.writer.add_track(
        {.name = name, .kind = "host_thread", .device = device_, .schema = schema, .order = order});
  }
  return *track;
}

const PythonProcess::Code* PythonProcess::code_of(std::uint32_t number) const noexcept {
  return number < codes_.size() ? &codes_[number] : nullptr;
}

// What a program writes may be anything; what happened did so until now.
std::int64_t PythonProcess::time_of(std::uint64_t ticks) const noexcept {
  constexpr std::int64_t kAhead = 1'000'000'000;  // of the last look at the clock
  return std::clamp<std::int64_t>(process_.clock->to_ns(ticks), 0, process_.clock->last_ns() + kAhead);
}

StringId PythonProcess::location(const std::string& path, std::uint64_t line) {
  return path.empty() ? 0 : session_.writer.intern(fmt::format("{}:{}", path, line));
}

// ---- Definitions

void PythonProcess::define(std::uint32_t type, std::string_view bytes) {
  probe::BodyReader body(bytes);
  if (type == records::kDefineCode) {
    define_code(body);
  } else if (type == records::kDefineMeta) {
    define_meta(body);
  } else if (const auto note = body.number<records::NoteKind>(); type == records::kDefineNote && body.ok()) {
    ++(note == records::NoteKind::profile_replaced ? session_.profile_replaced : session_.trace_replaced);
  } else {
    ++session_.broken_records;
  }
}

void PythonProcess::define_code(probe::BodyReader& body) {
  const auto number = body.number<std::uint32_t>();
  const auto first_line = body.number<std::uint32_t>();
  const auto flags = body.number<std::uint32_t>();
  Code code;
  code.path = json::repair_utf8(body.text());
  const std::string name = json::repair_utf8(body.text());
  const std::string module = json::repair_utf8(body.text());
  if (!body.all_read() || number != codes_.size()) {
    ++session_.broken_records;
    return;
  }
  if (!code.path.empty() && !code.path.starts_with('/') && !code.path.starts_with('<') && !directory_.empty()) {
    code.path = (std::filesystem::path(directory_) / code.path).lexically_normal().string();
  }
  // Of text that was compiled as the program ran, the module is the one around it.
  const std::string& whose = code.path.starts_with('<') ? code.path : module;
  code.names.name = session_.writer.intern(name == "<module>" && !whose.empty() ? name + " " + whose : name);
  // A module holds all that it runs: as the cost of its first line that would say nothing.
  if (name != "<module>") code.names.location = location(code.path, first_line);
  code.names.module = session_.writer.intern(module);
  code.names.what = session_.writer.intern(what_of(flags, name));
  session_.sources.take(code.path, library_);
  codes_.push_back(std::move(code));
}

void PythonProcess::define_meta(probe::BodyReader& body) {
  const std::string key = json::repair_utf8(body.text());
  const std::string value = json::repair_utf8(body.text());
  if (!body.all_read()) {
    ++session_.broken_records;
  } else if (key == records::kLibraryKey) {
    library_ = value;
  } else if (key == records::kDirectoryKey) {
    directory_ = value;
  } else {
    session_.writer.set_meta("python." + key, value);
  }
}

// ---- Records

void PythonProcess::record(const probes::ProbeThread& thread, RecordHead head, std::span<const std::uint64_t> words) {
  records::TimeRecord time{};
  bool known = probes::read_record(head, words, time);
  if (known) {
    const std::int64_t now_ns = time_of(time.ticks);
    known = head.type >= records::kSignpost ? take_text(thread, head, words, now_ns)
                                            : take_call(thread, head, words, now_ns);
  }
  if (!known) ++session_.broken_records;
}

bool PythonProcess::take_call(const probes::ProbeThread& thread, RecordHead head, std::span<const std::uint64_t> words,
                              std::int64_t now_ns) {
  CallStack* stack = stack_of(thread);
  if (stack == nullptr) return true;
  if (head.type != records::kBase) now_ns = stack->forward(now_ns);
  const Code* code = code_of(head.value);
  switch (head.type) {
    case records::kCall:
    case records::kRunning:
      if (code == nullptr) return false;
      stack->call(head.value, code->names, now_ns, head.type == records::kRunning);
      return true;
    case records::kReturn:
    case records::kRaise:
      if (code == nullptr) return false;
      stack->leave(head.value, now_ns, head.type == records::kRaise);
      return true;
    case records::kLine: {
      records::LineRecord line{};
      if (code == nullptr || !probes::read_record(head, words, line)) return false;
      stack->line(head.value, line_names(head.value, static_cast<std::uint32_t>(line.line)), now_ns);
      return true;
    }
    case records::kBase: {
      records::BaseRecord base{};
      if (!probes::read_record(head, words, base)) return false;
      stack->close_all(base.ended_ticks != 0 ? time_of(base.ended_ticks) : now_ns);
      stack->set_begin(stack->forward(now_ns));
      return true;
    }
    case records::kRegionEnd:
      stack->close_all(now_ns);
      region_end_ns_ = now_ns;
      return true;
    case records::kGcBegin:
      stack->begin_collection(collection_names(head.value), now_ns);
      return true;
    case records::kGcEnd:
      stack->end_collection(now_ns, fmt::format("{} objects freed", head.value));
      return true;
    default:
      return false;
  }
}

bool PythonProcess::take_text(const probes::ProbeThread& thread, RecordHead head, std::span<const std::uint64_t> words,
                              std::int64_t now_ns) {
  records::TextRecord record{};
  if (!probes::read_record(head, words, record)) return false;
  const std::uint64_t length = std::uint64_t{record.first_bytes} + record.second_bytes;
  if (sizeof record + length > words.size_bytes() + sizeof head) return false;
  std::string bytes(length, '\0');
  std::memcpy(bytes.data(), reinterpret_cast<const char*>(words.data()) + sizeof record - sizeof head, length);
  const Text text{json::repair_utf8(std::string_view(bytes).substr(0, record.first_bytes)),
                  json::repair_utf8(std::string_view(bytes).substr(record.first_bytes)), record.number};
  switch (head.type) {
    case records::kAnnotation:
      annotate(thread, text.first);
      return true;
    case records::kSignpost:
      add_signpost(thread, head.value, now_ns, text);
      return true;
    case records::kTestBegin:
    case records::kTestEnd:
      if (head.value >= kPhases.size()) return false;
      if (head.type == records::kTestBegin) {
        begin_test(head.value, now_ns, text);
      } else {
        end_test(head.value, now_ns, text.first);
      }
      return true;
    default:
      return false;
  }
}

void PythonProcess::annotate(const probes::ProbeThread& thread, const std::string& text) {
  CallStack* stack = thread.index < stacks_.size() ? stacks_[thread.index].calls.get() : nullptr;
  if (stack != nullptr && !stack->empty()) {
    stack->annotate(text);
  } else {
    session_.writer.set_meta("python.metadata", text);
  }
}

void PythonProcess::add_signpost(const probes::ProbeThread& thread, std::uint32_t code_number, std::int64_t now_ns,
                                 const Text& text) {
  Row row = session_.writer.begin_event(
      extra_track(signposts_, "Signposts", session_.tables[PythonTable::signpost], kSignpostsOrder), now_ns, 0,
      session_.writer.intern(text.first));
  if (!text.second.empty()) row.text(kMessage, text.second);
  if (const Code* code = code_of(code_number); code != nullptr && !code->path.empty()) {
    row.string(kSignpostLocation, location(code->path, text.number));
  }
  row.string(kThread, session_.writer.intern(json::repair_utf8(thread.name)));
}

CodeNames PythonProcess::line_names(std::uint32_t number, std::uint32_t line) {
  CodeNames& names = lines_[(std::uint64_t{number} << 32U) | line];
  if (names.name == 0) {
    const Code& code = codes_[number];
    std::string_view text = session_.sources.line(code.path, line);
    const std::string file = std::filesystem::path(code.path).filename().string();
    names.name = session_.writer.intern(text.empty() ? fmt::format("{}:{}", file, line)
                                                     : fmt::format("{}  {}", line, shorten_middle(text, kLineChars)));
    names.location = location(code.path, line);
    names.module = code.names.module;
    names.what = session_.writer.intern("line");
  }
  return names;
}

CodeNames PythonProcess::collection_names(std::uint32_t generation) {
  CodeNames names;
  names.name = session_.writer.intern(fmt::format("garbage collection (generation {})", generation));
  names.what = session_.writer.intern("garbage collection");
  return names;
}

// ---- Ends

// Threads other than the one that told of the end tell nothing themselves.
void PythonProcess::read_until(std::int64_t now_ns) {
  if (turned_) turned_();
  if (!region_end_ns_ || now_ns <= *region_end_ns_) return;
  for (const Stack& stack : stacks_) {
    if (stack.calls != nullptr && stack.calls->begin_ns() <= *region_end_ns_) stack.calls->close_all(*region_end_ns_);
  }
  region_end_ns_.reset();
}

void PythonProcess::thread_ended(const probes::ProbeThread& thread, std::int64_t now_ns) {
  if (thread.index >= stacks_.size() || stacks_[thread.index].calls == nullptr) return;
  const std::unique_ptr<CallStack> calls = std::move(stacks_[thread.index].calls);
  const bool by_region = region_end_ns_ && calls->begin_ns() <= *region_end_ns_;
  const std::uint64_t open = calls->close_all(by_region ? *region_end_ns_ : now_ns);
  if (!by_region) session_.open_calls += open;
}

void PythonProcess::ended(const probes::ProbeEnd& end) {
  read_until(std::max(end.end_ns, region_end_ns_.value_or(0) + 1));
  for (const Stack& stack : stacks_) {
    if (stack.calls == nullptr) continue;
    (end.by_capture ? session_.running_calls : session_.open_calls) += stack.calls->close_all(end.end_ns);
  }
  for (std::uint32_t phase = static_cast<std::uint32_t>(open_tests_.size()); phase-- > 0;) {
    end_test(phase, end.end_ns, "unfinished");
  }
}

// ---- Tests

void PythonProcess::begin_test(std::uint32_t phase, std::int64_t now_ns, const Text& text) {
  session_.sources.take(text.second, library_);
  open_tests_[phase] = OpenTest{now_ns, session_.writer.intern(text.first), location(text.second, text.number)};
}

void PythonProcess::end_test(std::uint32_t phase, std::int64_t now_ns, std::string_view outcome) {
  const std::optional<OpenTest> test = std::exchange(open_tests_[phase], std::nullopt);
  if (!test) return;
  now_ns = std::max(now_ns, test->begin_ns);
  const bool whole = phase == records::kWholeTest;
  Row row = session_.writer.begin_event_at(
      extra_track(tests_, "Tests", session_.tables[PythonTable::test], kTestsOrder), whole ? 0 : 1, test->begin_ns,
      now_ns - test->begin_ns, whole ? test->id : session_.writer.intern(kPhases[phase]));
  row.string(kOutcome, session_.writer.intern(outcome));
  if (test->location != 0) row.string(kTestLocation, test->location);
  row.string(kTestPhase, session_.writer.intern(kPhases[phase]));
  row.string(kTestId, test->id);
}

}  // namespace accelscope::capture::kinds::python
