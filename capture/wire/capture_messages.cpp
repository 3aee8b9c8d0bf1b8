#include "capture/wire/capture_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace accelscope::capture::wire {
namespace {

constexpr std::size_t kMaxTextBytes = 8U << 10;
constexpr std::size_t kMaxScriptBytes = 256U << 10;
constexpr std::uint32_t kMessageMaxItems = 4'096;  // of any list

// Every message names its fields once, in fields(); these two walk over them to write or to read.
class Put {
 public:
  template <typename T>
    requires std::is_arithmetic_v<T>
  void number(const T& value) {
    writer.number(value);
  }
  template <typename T>
  void choice(const T& value, T /*first*/, T /*last*/) {
    writer.number(static_cast<std::uint8_t>(value));
  }
  void flag(const bool& value) { writer.number(static_cast<std::uint8_t>(value ? 1 : 0)); }
  void text(const std::string& value, std::size_t max_bytes = kMaxTextBytes) {
    writer.text(std::string_view(value).substr(0, max_bytes));
  }
  template <typename Item, typename Each>
  void list(const std::vector<Item>& items, const Each& each) {
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(items.size(), kMessageMaxItems));
    writer.number(count);
    for (std::uint32_t i = 0; i < count; ++i) each(items[i]);
  }
  ByteWriter writer;
};

class Take {
 public:
  explicit Take(ByteView body) : reader_(body) {}
  template <typename T>
    requires std::is_arithmetic_v<T>
  void number(T& value) {
    value = reader_.number<T>();
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) wrong("with a number that is none");
    }
  }
  template <typename T>
  void choice(T& value, T first, T last) {
    value = static_cast<T>(reader_.number<std::uint8_t>());
    if (reader_.ok() && (value < first || value > last)) wrong("with an unknown choice");
  }
  void flag(bool& value) { value = reader_.number<std::uint8_t>() != 0; }
  void text(std::string& value, std::size_t max_bytes = kMaxTextBytes) {
    const std::string_view read = reader_.text();
    if (read.size() > max_bytes) return wrong("with a text that is too long");
    value = read;
  }
  template <typename Item, typename Each>
  void list(std::vector<Item>& items, const Each& each) {
    std::uint32_t count = 0;
    number(count);
    if (count > kMessageMaxItems) return wrong("with a list that is too long");
    for (std::uint32_t i = 0; i < count && ok(); ++i) each(items.emplace_back());
  }
  void wrong(const char* how) {
    if (wrong_.empty()) wrong_ = how;
  }
  [[nodiscard]] bool ok() const { return reader_.ok() && wrong_.empty(); }
  [[nodiscard]] std::string problem() const { return wrong_.empty() ? "that is cut short" : wrong_; }

 private:
  ByteReader reader_;
  std::string wrong_;
};

template <typename Walk, typename Texts>
void texts(Walk& walk, Texts& list) {
  walk.list(list, [&walk](auto& text) { walk.text(text); });
}

// T is the message, const when it is written.
template <typename T, typename Message>
concept Same = std::is_same_v<std::remove_const_t<T>, Message>;

template <typename Walk, Same<request::CaptureRequest> T>
void fields(Walk& walk, T& request) {
  walk.text(request.name);
  walk.list(request.kinds, [&walk](auto& kind) {
    walk.text(kind.name);
    walk.list(kind.options, [&walk](auto& option) {
      walk.text(option.name);
      walk.text(option.value);
    });
  });
  walk.text(request.program);
  texts(walk, request.arguments);
  walk.text(request.directory);
  texts(walk, request.environment);
  walk.text(request.script, kMaxScriptBytes);
  walk.flag(request.paused);
  walk.number(request.duration_seconds);
  texts(walk, request.results);
}

template <typename Walk, Same<request::KindFacts> T>
void fields(Walk& walk, T& kind) {
  walk.text(kind.name);
  walk.text(kind.title);
  walk.text(kind.explanation);
  walk.flag(kind.needs_program);
  walk.flag(kind.takes_program);
  walk.list(kind.options, [&walk](auto& option) {
    walk.text(option.name);
    walk.choice(option.type, request::OptionType::flag, request::OptionType::file);
    walk.text(option.default_value);
    walk.text(option.explanation);
    texts(walk, option.choices);
    walk.flag(option.required);
    walk.flag(option.repeats);
  });
  walk.list(kind.checks, [&walk](auto& check) {
    walk.flag(check.ok);
    walk.text(check.text);
  });
}

template <typename Walk, Same<CaptureOffer> T>
void fields(Walk& walk, T& offer) {
  walk.text(offer.id);
  walk.text(offer.name);
  walk.text(offer.description);
  walk.choice(offer.state, CaptureState::running, CaptureState::interrupted);
  walk.number(offer.first_sequence);
  walk.number(offer.last_sequence);
  walk.number(offer.events);
  walk.number(offer.begun_unix_ns);
  walk.text(offer.controller);
}

template <typename Walk, Same<ProofMessage> T>
void fields(Walk& walk, T& message) {
  walk.text(message.mac);
}

template <typename Walk, Same<Welcome> T>
void fields(Walk& walk, T& message) {
  walk.text(message.mac);
  walk.text(message.host);
  walk.text(message.system);
  walk.flag(message.may_run);
  walk.text(message.fixed);
  walk.list(message.kinds, [&walk](auto& kind) { fields(walk, kind); });
  walk.list(message.captures, [&walk](auto& offer) { fields(walk, offer); });
}

template <typename Walk, Same<Start> T>
void fields(Walk& walk, T& message) {
  walk.number(message.after_sequence);
  walk.choice(message.mode, StartMode::look, StartMode::watch);
  walk.text(message.capture_id);
  fields(walk, message.request);
}

template <typename Walk, Same<Started> T>
void fields(Walk& walk, T& message) {
  walk.text(message.capture_id);
  walk.text(message.name);
  walk.text(message.description);
  walk.number(message.begun_unix_ns);
  walk.flag(message.controls);
}

template <typename Walk, Same<Pause> T>
void fields(Walk& walk, T& message) {
  walk.text(message.reason);
}

template <typename Walk, Same<StateReport> T>
void fields(Walk& walk, T& message) {
  walk.choice(message.state, CaptureState::running, CaptureState::interrupted);
  walk.text(message.reason);
  walk.text(message.controller);
  walk.number(message.watchers);
  walk.number(message.dropped_events);
}

template <typename Walk, Same<ClockReport> T>
void fields(Walk& walk, T& message) {
  walk.number(message.viewer_ns);
  walk.number(message.agent_ns);
}

template <typename Walk, Same<Gap> T>
void fields(Walk& walk, T& message) {
  walk.number(message.first);
  walk.number(message.last);
  walk.number(message.events);
  walk.text(message.reason);
}

template <typename Walk, Same<FilePiece> T>
void fields(Walk& walk, T& message) {
  walk.text(message.path);
  walk.number(message.mode);
  walk.number(message.offset);
  walk.number(message.total);
  walk.text(message.bytes, kFilePieceBytes);
}

template <typename Walk, Same<Fetch> T>
void fields(Walk& walk, T& message) {
  walk.text(message.capture_id);
  texts(walk, message.patterns);
}

template <typename Walk, Same<Fetched> T>
void fields(Walk& walk, T& message) {
  walk.number(message.files);
  walk.number(message.bytes);
  walk.text(message.message);
}

template <typename Walk, Same<Discard> T>
void fields(Walk& walk, T& message) {
  walk.text(message.capture_id);
}

template <typename Message>
Frame put(FrameType type, const Message& message) {
  Put walk;
  fields(walk, message);
  return make_frame(type, walk.writer.take());
}

template <typename Message>
Result<Message> take(ByteView body, std::string_view name) {
  Take walk(body);
  Message message;
  fields(walk, message);
  if (!walk.ok()) return Error{fmt::format("a {} message {}", name, walk.problem())};
  return message;
}

}  // namespace

Frame encode(const ProofMessage& message) { return put(FrameType::proof, message); }
Frame encode(const Welcome& message) { return put(FrameType::welcome, message); }
Frame encode(const Start& message) { return put(FrameType::start, message); }
Frame encode(const Started& message) { return put(FrameType::started, message); }
Frame encode_pause(const Pause& message) { return put(FrameType::pause, message); }
Frame encode_resume(const Pause& message) { return put(FrameType::resume, message); }
Frame encode(const StateReport& message) { return put(FrameType::state, message); }
Frame encode(const ClockReport& message) { return put(FrameType::clock, message); }
Frame encode(const Gap& message) { return put(FrameType::gap, message); }
Frame encode(const FilePiece& message) { return put(FrameType::file, message); }
Frame encode(const Fetch& message) { return put(FrameType::fetch, message); }
Frame encode(const Fetched& message) { return put(FrameType::fetched, message); }
Frame encode(const Discard& message) { return put(FrameType::discard, message); }

Result<ProofMessage> decode_proof(ByteView body) { return take<ProofMessage>(body, "proof"); }
Result<Welcome> decode_welcome(ByteView body) { return take<Welcome>(body, "welcome"); }
Result<Start> decode_start(ByteView body) { return take<Start>(body, "start"); }
Result<Started> decode_started(ByteView body) { return take<Started>(body, "started"); }
Result<Pause> decode_pause(ByteView body) { return take<Pause>(body, "pause"); }
Result<StateReport> decode_state(ByteView body) { return take<StateReport>(body, "state"); }
Result<ClockReport> decode_clock(ByteView body) { return take<ClockReport>(body, "clock"); }
Result<Gap> decode_gap(ByteView body) { return take<Gap>(body, "gap"); }
Result<Fetch> decode_fetch(ByteView body) { return take<Fetch>(body, "fetch"); }
Result<Fetched> decode_fetched(ByteView body) { return take<Fetched>(body, "fetched"); }
Result<Discard> decode_discard(ByteView body) { return take<Discard>(body, "discard"); }

Result<FilePiece> decode_file(ByteView body) {
  Result<FilePiece> piece = take<FilePiece>(body, "file");
  if (piece && !safe_relative_path(piece->path)) {
    return Error{"a file message with a path that leaves the folder of the capture"};
  }
  if (piece && (piece->offset > piece->total || piece->bytes.size() > piece->total - piece->offset)) {
    return Error{"a file message with more bytes than the file has"};
  }
  return piece;
}

Bytes encode_request(const request::CaptureRequest& request) {
  Put walk;
  fields(walk, request);
  return walk.writer.take();
}

Result<request::CaptureRequest> decode_request(ByteView bytes) {
  return take<request::CaptureRequest>(bytes, "request");
}

bool safe_relative_path(std::string_view path) {
  if (path.empty() || path.size() > 4'096) return false;
  const bool plain = std::none_of(
      path.begin(), path.end(), [](char c) { return c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!plain) return false;
  for (;;) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace accelscope::capture::wire
