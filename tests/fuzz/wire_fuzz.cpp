// Any bytes from the network are refused or taken within their bounds. The first byte chooses: 0 reads the rest as
// frames as a link would, others hand it to the decoder of one message, past the checksum that would stop the fuzzer.
#include <cstdlib>

#include "capture/ingest/stream_ingest.h"
#include "capture/system/address.h"
#include "capture/wire/capture_messages.h"
#include "capture/wire/messages.h"

using namespace accelscope;
using namespace accelscope::capture;

namespace {

class DroppingSink final : public EventSink {
 public:
  Result<void> define(const Definition&) override { return {}; }
  Result<void> append(SealedChunk) override { return {}; }
};

class DroppingSinks final : public SinkProvider {
 public:
  EventSink& sink(std::uint32_t) override { return sink_; }

 private:
  DroppingSink sink_;
};

// What was understood is written so that it is understood again.
template <typename T>
void repeats(ByteView body, Result<T> (*decode)(ByteView)) {
  const Result<T> message = decode(body);
  if (!message) return;
  const Result<T> again = decode(encode(*message).body);
  if (!again || !(*again == *message)) std::abort();
}

void decode_message(FrameType type, ByteView body) {
  switch (type) {
    case FrameType::hello:
      if (const Result<Hello> hello = decode_hello(body); hello) {
        (void)check_versions(Hello{}, hello.value());
        if (hello->major == kProtocolMajor && decode_hello(encode(*hello).body).value() != *hello) std::abort();
      }
      return;
    case FrameType::error:
      if (const Result<ErrorMessage> error = decode_error(body); error) (void)printable(error.value().text);
      return;
    case FrameType::end:
      if (const Result<StreamEnd> end = decode_end(body); end) {
        if (decode_end(encode(*end).body).value() != *end) std::abort();
        DroppingSinks sinks;
        (void)StreamIngest(sinks).finish(*end);
      }
      return;
    case FrameType::received:
    case FrameType::durable:
      (void)decode_acknowledgement(body);
      return;
    case FrameType::stop:
      return repeats(body, decode_stop);
    case FrameType::progress:
      return repeats(body, decode_progress);
    case FrameType::start:
      return repeats(body, decode_start);
    case FrameType::proof:
      return repeats(body, decode_proof);
    case FrameType::welcome:
      return repeats(body, decode_welcome);
    case FrameType::started:
      return repeats(body, decode_started);
    case FrameType::state:
      return repeats(body, decode_state);
    case FrameType::clock:
      return repeats(body, decode_clock);
    case FrameType::gap:
      return repeats(body, decode_gap);
    case FrameType::file:
      return repeats(body, decode_file);
    case FrameType::fetch:
      return repeats(body, decode_fetch);
    case FrameType::fetched:
      return repeats(body, decode_fetched);
    case FrameType::discard:
      return repeats(body, decode_discard);
    case FrameType::pause:
    case FrameType::resume:
      (void)decode_pause(body);
      return;
    default:
      (void)parse_address({reinterpret_cast<const char*>(body.data()), body.size()});
      return;
  }
}

void read_frames(ByteView bytes) {
  DroppingSinks sinks;
  StreamIngest ingest(sinks);
  while (true) {
    const Result<FrameHeader> header = parse_frame_header(bytes.first(std::min(bytes.size(), kFrameHeaderBytes)));
    if (!header || bytes.size() - kFrameHeaderBytes < header->length) return;
    const ByteView body = bytes.subspan(kFrameHeaderBytes, header->length);
    bytes = bytes.subspan(kFrameHeaderBytes + header->length);
    const bool whole = verify_frame(*header, body).ok();
    const FrameTypeFacts* facts = find_frame_type(header->type);
    if (facts != nullptr && facts->numbered) {
      if (!ingest.take({*header, Bytes(body.begin(), body.end())})) return;
    } else if (const Result<Gap> gap = decode_gap(body); header->type == FrameType::gap && gap) {
      if (!ingest.take(*gap)) return;
    } else if (whole) {
      decode_message(header->type, body);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) return 0;
  if (data[0] == 0) {
    read_frames(bytes.subspan(1));
  } else {
    decode_message(static_cast<FrameType>(data[0] % 25), bytes.subspan(1));
  }
  return 0;
}
