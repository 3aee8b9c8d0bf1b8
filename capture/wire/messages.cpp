#include "capture/wire/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace accelscope::capture::wire {
namespace {

constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMessagesMaxTextBytes = 8U << 10;
constexpr std::size_t kMaxCapabilities = 256;

// Cuts what would be refused at the other end.
void put_text(ByteWriter& writer, std::string_view text, std::size_t max_bytes) {
  writer.text(text.substr(0, max_bytes));
}

// Reads texts and remembers whether one was too long.
class TextReader {
 public:
  explicit TextReader(ByteView body) : reader(body) {}

  std::string text(std::size_t max_bytes) {
    const std::string_view value = reader.text();
    if (value.size() > max_bytes) too_long_ = true;
    return too_long_ ? std::string() : std::string(value);
  }
  [[nodiscard]] bool ok() const { return reader.ok() && !too_long_; }

  template <typename Message>
  [[nodiscard]] Result<Message> finish(Message message, std::string_view what) const {
    if (too_long_) return Error{fmt::format("a {} message with a text that is too long", what)};
    if (!reader.ok()) return Error{fmt::format("a {} message that is cut short", what)};
    return message;
  }

  ByteReader reader;

 private:
  bool too_long_ = false;
};

Frame acknowledgement(FrameType type, const Acknowledgement& message) {
  ByteWriter writer;
  writer.number(message.sequence);
  return make_frame(type, writer.take());
}

}  // namespace

Frame encode(const Hello& message) {
  ByteWriter writer;
  writer.number(message.major);
  writer.number(message.minor);
  writer.number(static_cast<std::uint8_t>(message.role));
  put_text(writer, message.program, kMaxNameBytes);
  put_text(writer, message.program_version, kMaxNameBytes);
  put_text(writer, message.session_id, kMaxNameBytes);
  put_text(writer, message.description, kMessagesMaxTextBytes);
  writer.number(message.window_bytes);
  const std::size_t count = std::min(message.capabilities.size(), kMaxCapabilities);
  writer.number(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) put_text(writer, message.capabilities[i], kMaxNameBytes / 2);
  put_text(writer, message.nonce, kMaxNameBytes);
  return make_frame(FrameType::hello, writer.take());
}

Result<Hello> decode_hello(ByteView body) {
  TextReader in(body);
  Hello hello;
  hello.major = in.reader.number<std::uint16_t>();
  hello.minor = in.reader.number<std::uint16_t>();
  hello.role = static_cast<PeerRole>(in.reader.number<std::uint8_t>());
  hello.program = in.text(kMaxNameBytes);
  hello.program_version = in.text(kMaxNameBytes);
  if (in.ok() && hello.major != kProtocolMajor) return hello;  // the rest may mean something else
  hello.session_id = in.text(kMaxNameBytes);
  hello.description = in.text(kMessagesMaxTextBytes);
  hello.window_bytes = in.reader.number<std::uint64_t>();
  const auto count = in.reader.number<std::uint32_t>();
  if (count > kMaxCapabilities) return Error{"a hello message with too many capabilities"};
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) hello.capabilities.push_back(in.text(kMaxNameBytes / 2));
  hello.nonce = in.text(kMaxNameBytes);
  if (in.ok() && hello.role != PeerRole::agent && hello.role != PeerRole::viewer) {
    return Error{"a hello message from neither an agent nor a viewer"};
  }
  return in.finish(std::move(hello), "hello");
}

Frame encode(const Stop& message) {
  ByteWriter writer;
  put_text(writer, message.reason, kMessagesMaxTextBytes);
  return make_frame(FrameType::stop, writer.take());
}

Result<Stop> decode_stop(ByteView body) {
  TextReader in(body);
  Stop stop;
  stop.reason = in.text(kMessagesMaxTextBytes);
  return in.finish(std::move(stop), "stop");
}

Frame encode_received(const Acknowledgement& message) { return acknowledgement(FrameType::received, message); }
Frame encode_durable(const Acknowledgement& message) { return acknowledgement(FrameType::durable, message); }

Result<Acknowledgement> decode_acknowledgement(ByteView body) {
  TextReader in(body);
  Acknowledgement message;
  message.sequence = in.reader.number<std::uint64_t>();
  return in.finish(message, "acknowledgement");
}

Frame encode(const ProgressReport& message) {
  ByteWriter writer;
  writer.number(message.events);
  writer.number(message.queued_bytes);
  writer.number(message.waited_ns);
  put_text(writer, message.text, kMessagesMaxTextBytes);
  return make_frame(FrameType::progress, writer.take());
}

Result<ProgressReport> decode_progress(ByteView body) {
  TextReader in(body);
  ProgressReport report;
  report.events = in.reader.number<std::uint64_t>();
  report.queued_bytes = in.reader.number<std::uint64_t>();
  report.waited_ns = in.reader.number<std::uint64_t>();
  report.text = in.text(kMessagesMaxTextBytes);
  return in.finish(std::move(report), "progress");
}

Frame encode(const StreamEnd& message) {
  ByteWriter writer;
  writer.number(static_cast<std::uint8_t>(message.outcome));
  writer.number(message.last_sequence);
  writer.number(message.events);
  writer.number(message.chunks);
  put_text(writer, message.text, kMessagesMaxTextBytes);
  writer.number(static_cast<std::uint32_t>(message.lanes.size()));
  for (const LaneTotal& total : message.lanes) {
    writer.number(total.lane);
    writer.number(total.events);
  }
  return make_frame(FrameType::end, writer.take());
}

Result<StreamEnd> decode_end(ByteView body) {
  TextReader in(body);
  StreamEnd end;
  end.outcome = static_cast<Outcome>(in.reader.number<std::uint8_t>());
  end.last_sequence = in.reader.number<std::uint64_t>();
  end.events = in.reader.number<std::uint64_t>();
  end.chunks = in.reader.number<std::uint64_t>();
  end.text = in.text(kMessagesMaxTextBytes);
  const auto count = in.reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); ++i) {
    LaneTotal total;
    total.lane = in.reader.number<LaneNumber>();
    total.events = in.reader.number<std::uint64_t>();
    end.lanes.push_back(total);
  }
  if (in.ok() && (end.outcome < Outcome::complete || end.outcome > Outcome::failed)) {
    return Error{"an end message with an unknown outcome"};
  }
  return in.finish(std::move(end), "end");
}

Frame encode(const ErrorMessage& message) {
  ByteWriter writer;
  writer.number(static_cast<std::uint16_t>(message.code));
  put_text(writer, message.text, kMessagesMaxTextBytes);
  return make_frame(FrameType::error, writer.take());
}

Result<ErrorMessage> decode_error(ByteView body) {
  TextReader in(body);
  ErrorMessage error;
  error.code = static_cast<ErrorCode>(in.reader.number<std::uint16_t>());
  error.text = in.text(kMessagesMaxTextBytes);
  return in.finish(std::move(error), "error");
}

Result<void> check_versions(const Hello& own, const Hello& peer) {
  if (own.major == peer.major) return {};
  const Hello& older = own.major < peer.major ? own : peer;
  const auto name = [](const Hello& hello) {
    return fmt::format("{} {}", printable(hello.program, 64), printable(hello.program_version, 64));
  };
  return Error{fmt::format("{} speaks protocol {}.{}, {} speaks {}.{}; update {}", name(own), own.major, own.minor,
                           name(peer), peer.major, peer.minor, printable(older.program, 64))};
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string shown(text.substr(0, max_bytes));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return shown;
}

}  // namespace accelscope::capture::wire
