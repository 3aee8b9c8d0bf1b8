// Any bytes from the network are refused or taken within their bounds. The first byte chooses: 0 reads the rest as
// frames as a link would, others hand it to the decoder of one message, past the checksum that would stop the fuzzer.
#include <cstdlib>

#include "capture/ingest/stream_ingest.h"
#include "capture/system/address.h"
#include "capture/wire/messages.h"

using namespace accelscope;
using namespace accelscope::capture;
using namespace accelscope::capture::wire;

namespace {

class DroppingSink final : public EventSink {
 public:
  Result<void> define(const Definition&) override { return {}; }
  Result<void> append(SealedChunk) override { return {}; }
};

class DroppingSinks final : public ingest::SinkProvider {
 public:
  EventSink& sink(std::uint32_t) override { return sink_; }

 private:
  DroppingSink sink_;
};

// What was understood is written so that it is understood again.
template <typename T>
void repeats(ByteView body) {
  const Result<T> message = wire::decode<T>(body);
  if (!message) return;
  const Result<T> again = wire::decode<T>(wire::encode(*message).body);
  if (!again || !(*again == *message)) std::abort();
}

void decode_message(wire::FrameType type, ByteView body) {
  switch (type) {
    case wire::FrameType::hello:
      if (const Result<wire::Hello> hello = wire::decode<wire::Hello>(body); hello) {
        (void)wire::check_versions(wire::Hello{}, hello.value());
        if (hello->major == wire::kProtocolMajor &&
            wire::decode<wire::Hello>(wire::encode(*hello).body).value() != *hello)
          std::abort();
      }
      return;
    case wire::FrameType::error:
      if (const Result<wire::ErrorMessage> error = wire::decode<wire::ErrorMessage>(body); error)
        (void)wire::printable(error.value().text);
      return;
    case wire::FrameType::end:
      if (const Result<wire::StreamEnd> end = wire::decode<wire::StreamEnd>(body); end) {
        if (wire::decode<wire::StreamEnd>(wire::encode(*end).body).value() != *end) std::abort();
        DroppingSinks sinks;
        (void)ingest::StreamIngest(sinks).finish(*end);
      }
      return;
    case wire::FrameType::received:
    case wire::FrameType::durable:
      (void)wire::decode<wire::Received>(body);
      return;
    case wire::FrameType::stop:
      return repeats<wire::Stop>(body);
    case wire::FrameType::progress:
      return repeats<wire::ProgressReport>(body);
    case wire::FrameType::start:
      return repeats<wire::Start>(body);
    case wire::FrameType::proof:
      return repeats<wire::ProofMessage>(body);
    case wire::FrameType::welcome:
      return repeats<wire::Welcome>(body);
    case wire::FrameType::started:
      return repeats<wire::Started>(body);
    case wire::FrameType::state:
      return repeats<wire::StateReport>(body);
    case wire::FrameType::clock:
      return repeats<wire::ClockReport>(body);
    case wire::FrameType::gap:
      return repeats<wire::Gap>(body);
    case wire::FrameType::file:
      return repeats<wire::FilePiece>(body);
    case wire::FrameType::fetch:
      return repeats<wire::Fetch>(body);
    case wire::FrameType::fetched:
      return repeats<wire::Fetched>(body);
    case wire::FrameType::discard:
      return repeats<wire::Discard>(body);
    case wire::FrameType::pause:
    case wire::FrameType::resume:
      (void)wire::decode<wire::Pause>(body);
      return;
    default:
      (void)system::parse_address({reinterpret_cast<const char*>(body.data()), body.size()});
      return;
  }
}

void read_frames(ByteView bytes) {
  DroppingSinks sinks;
  ingest::StreamIngest ingest(sinks);
  while (true) {
    const Result<wire::FrameHeader> header =
        wire::parse_frame_header(bytes.first(std::min(bytes.size(), wire::kFrameHeaderBytes)));
    if (!header || bytes.size() - wire::kFrameHeaderBytes < header->length) return;
    const ByteView body = bytes.subspan(wire::kFrameHeaderBytes, header->length);
    bytes = bytes.subspan(wire::kFrameHeaderBytes + header->length);
    const bool whole = wire::verify_frame(*header, body).ok();
    const wire::FrameTypeFacts* facts = find_frame_type(header->type);
    if (facts != nullptr && facts->numbered) {
      if (!ingest.take({*header, Bytes(body.begin(), body.end())})) return;
    } else if (const Result<wire::Gap> gap = wire::decode<wire::Gap>(body);
               header->type == wire::FrameType::gap && gap) {
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
    decode_message(static_cast<wire::FrameType>(data[0] % 25), bytes.subspan(1));
  }
  return 0;
}
