#include "capture/wire/frame.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "capture/system/address.h"
#include "capture/wire/capture_messages.h"
#include "capture/wire/messages.h"
#include "wire_support.h"

namespace accelscope::capture {
namespace {

constexpr FrameType kAllTypes[] = {FrameType::hello,   FrameType::error,    FrameType::heartbeat,
                                   FrameType::start,   FrameType::stop,     FrameType::received,
                                   FrameType::durable, FrameType::progress, FrameType::definition,
                                   FrameType::chunk,   FrameType::end};

Bytes random_bytes(std::mt19937& random, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

ByteView header_bytes(const FrameHeader& header) { return std::as_bytes(std::span(&header, 1)); }

TEST_CASE("a frame of any type and size is read as it was written") {
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    const FrameType type = kAllTypes[random() % std::size(kAllTypes)];
    const FrameTypeFacts* facts = find_frame_type(type);
    const std::size_t size = random() % (std::min(facts->max_length, 5'000U) + 1);
    const Frame frame = make_frame(type, random_bytes(random, size), facts->numbered ? 1 + random() % 1'000 : 0);
    const Result<FrameHeader> header = parse_frame_header(header_bytes(frame.header));
    REQUIRE(header.ok());
    CHECK(header.value().type == type);
    CHECK(header.value().length == size);
    CHECK(header.value().sequence == frame.header.sequence);
    CHECK(verify_frame(header.value(), frame.body).ok());
  }
}

TEST_CASE("any single flipped bit of a frame is noticed") {
  std::mt19937 random(2);
  const Frame frame = make_frame(FrameType::chunk, random_bytes(random, 300), 7);
  Bytes bytes(header_bytes(frame.header).begin(), header_bytes(frame.header).end());
  bytes.insert(bytes.end(), frame.body.begin(), frame.body.end());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const Result<FrameHeader> header = parse_frame_header(ByteView(damaged).first(kFrameHeaderBytes));
    const bool noticed = !header || !verify_frame(header.value(), ByteView(damaged).subspan(kFrameHeaderBytes));
    REQUIRE_MESSAGE(noticed, "bit ", bit);
  }
}

TEST_CASE("a frame that claims to be larger than its type may be is refused before its body is read") {
  FrameHeader header = make_frame(FrameType::chunk, {}, 1).header;
  header.length = 0xffffffffU;
  CHECK(contains(parse_frame_header(header_bytes(header)).message(), "at most"));
  header = make_frame(FrameType::hello, {}).header;
  header.length = 1U << 20;
  CHECK_FALSE(parse_frame_header(header_bytes(header)).ok());
}

TEST_CASE("a frame type of a later version is skipped if it may be, else refused") {
  FrameHeader header = make_frame(FrameType::heartbeat, {}).header;
  header.type = static_cast<FrameType>(900);
  CHECK(contains(parse_frame_header(header_bytes(header)).message(), "does not know"));
  header.flags = kMayBeSkipped;
  CHECK(parse_frame_header(header_bytes(header)).ok());
}

TEST_CASE("exactly data frames carry numbers") {
  FrameHeader header = make_frame(FrameType::chunk, {}, 1).header;
  header.sequence = 0;
  CHECK_FALSE(parse_frame_header(header_bytes(header)).ok());
  header = make_frame(FrameType::start, {}).header;
  header.sequence = 4;
  CHECK_FALSE(parse_frame_header(header_bytes(header)).ok());
}

TEST_CASE("every message is read as it was written, and fails when it is cut anywhere") {
  Hello hello = agent_hello();
  hello.window_bytes = 1'234;
  hello.capabilities = {"stop", "durable"};
  const StreamEnd end{Outcome::stopped, 9, 100, 3, "enough", {{0, 60}, {5, 40}}};
  const ProgressReport progress{1, 2, 3, "text"};
  const ErrorMessage error{ErrorCode::busy, "later"};
  CHECK(decode_hello(encode(hello).body).value() == hello);
  CHECK(decode_end(encode(end).body).value() == end);
  CHECK(decode_progress(encode(progress).body).value() == progress);
  CHECK(decode_error(encode(error).body).value() == error);
  CHECK(decode_stop(encode(Stop{"why"}).body).value() == Stop{"why"});
  CHECK(decode_start(encode(Start{.after_sequence = 5}).body).value() == Start{.after_sequence = 5});
  CHECK(decode_acknowledgement(encode_received({8}).body).value() == Acknowledgement{8});
  CHECK(encode_durable({8}).header.type == FrameType::durable);
  const Bytes hello_bytes = encode(hello).body;
  for (std::size_t cut = 0; cut < hello_bytes.size(); ++cut) {
    REQUIRE_FALSE(decode_hello(ByteView(hello_bytes).first(cut)).ok());
  }
  const Bytes end_bytes = encode(end).body;
  for (std::size_t cut = 0; cut < end_bytes.size(); ++cut) {
    REQUIRE_FALSE(decode_end(ByteView(end_bytes).first(cut)).ok());
  }
}

TEST_CASE("what is said about captures is read as it was written, and fails when it is cut anywhere") {
  const CaptureRequest request{.name = "mlp",
                               .kinds = {{"program", {{"sample-interval", "10ms"}}}, {"simulate", {}}},
                               .program = "python3",
                               .arguments = {"bench.py", "--m", "512"},
                               .directory = "/tmp",
                               .environment = {"A=b"},
                               .script = "echo $A\n",
                               .paused = true,
                               .duration_seconds = 1.5,
                               .results = {"out/*.npy"}};
  const KindOption option{"detail", OptionType::choice, "full", "How much.", {"full", "slim"}, true, true};
  const KindFacts kind{"simulate", "Simulated accelerator", "Needs nothing.", false, false,
                       {option},   {{true, "ready"}}};
  const CaptureOffer offer{"ab", "mlp", "simulated", CaptureState::interrupted, 2, 9, 70, 5, "127.0.0.1:5"};
  const auto check = [](const auto& message, const auto& decode) {
    const Bytes bytes = encode(message).body;
    CHECK(decode(bytes).value() == message);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) REQUIRE_FALSE(decode(ByteView(bytes).first(cut)).ok());
  };
  check(ProofMessage{"mac"}, decode_proof);
  check(Welcome{"mac", "trn1", "Linux x86_64", true, "", {kind, kind}, {offer}}, decode_welcome);
  check(Start{7, StartMode::take_up, "ab", request}, decode_start);
  check(Started{"ab", "mlp", "simulated", 5, true}, decode_started);
  check(StateReport{CaptureState::paused, "by hand", "me", 3, 17}, decode_state);
  check(ClockReport{-5, 6}, decode_clock);
  check(Gap{3, 9, 100, "let go"}, decode_gap);
  check(FilePiece{"a/b", 0755, 2, 6, "cdef"}, decode_file);
  check(Fetch{"ab", {"*.npy"}}, decode_fetch);
  check(Fetched{2, 100, "none"}, decode_fetched);
  check(Discard{"ab"}, decode_discard);
  CHECK(decode_request(encode_request(request)).value() == request);
  CHECK(encode_pause({"x"}).header.type == FrameType::pause);
  CHECK(encode_resume({"x"}).header.type == FrameType::resume);
}

TEST_CASE("a file's path cannot leave the folder of the capture") {
  for (const char* path : {"a", "a/b.txt", "..a/b..", "a b"}) CHECK_MESSAGE(safe_relative_path(path), path);
  for (const char* path : {"", "/a", "a/", "..", "a/../b", "a//b", "./a", "a\\b", "a\nb"}) {
    CHECK_MESSAGE(!safe_relative_path(path), path);
    CHECK_FALSE(decode_file(encode(FilePiece{path, 0644, 0, 0, ""}).body).ok());
  }
  CHECK_FALSE(decode_file(encode(FilePiece{"a", 0644, 5, 6, "cdef"}).body).ok());
}

TEST_CASE("a message with fields that a newer minor version added is understood") {
  Bytes body = encode(agent_hello()).body;
  body.resize(body.size() + 40, std::byte{0x5a});
  CHECK(decode_hello(body).value() == agent_hello());
}

TEST_CASE("a peer cannot make this side keep long texts or print control characters") {
  ByteWriter writer;
  for (const std::uint16_t number : {kProtocolMajor, kProtocolMinor}) writer.number(number);
  writer.number(static_cast<std::uint8_t>(PeerRole::agent));
  writer.text(std::string(60'000, 'x'));
  CHECK(contains(decode_hello(writer.view()).message(), "too long"));
  CHECK(printable("a\x1b[31m\nb") == "a [31m b");
  CHECK(printable(std::string(5'000, 'x')).size() == 1'024);
}

TEST_CASE("another major version gets a message that names the side to update") {
  Hello agent = agent_hello();
  const Hello viewer = viewer_hello();
  CHECK(check_versions(viewer, agent).ok());
  agent.minor = kProtocolMinor + 3;
  CHECK(check_versions(viewer, agent).ok());
  agent.major = kProtocolMajor + 1;
  CHECK(contains(check_versions(viewer, agent).message(), "; update accelscope"));
  CHECK_FALSE(contains(check_versions(viewer, agent).message(), "; update accelscope-agent"));
  agent.major = kProtocolMajor - 1;
  CHECK(contains(check_versions(viewer, agent).message(), "; update accelscope-agent"));
}

TEST_CASE("an address is a name or an IP address with a port, and its text is what was meant") {
  CHECK(parse_address("127.0.0.1:7420").value() == Address{"127.0.0.1", 7420});
  CHECK(parse_address("localhost:99").value() == Address{"127.0.0.1", 99});
  CHECK(parse_address("127.3.2.1").value() == Address{"127.3.2.1", kDefaultPort});
  CHECK(parse_address("[::1]:80").value() == Address{"::1", 80});
  CHECK(parse_address("0.0.0.0:1").value() == Address{"0.0.0.0", 1});
  CHECK(parse_address("TRN1-07.lab:7420").value() == Address{"trn1-07.lab", 7420});
  CHECK(parse_address("[0:0::0]").value() == Address{"::", kDefaultPort});
  CHECK(parse_address("tls://[::1]:80").value() == Address{"::1", 80, true});
  for (const char* text : {"[::1]:80", "10.0.0.7:1", "trn1-07:7420", "tls://127.0.0.1:7420", "[fd00::2]:9"}) {
    CHECK(parse_address(text).value().text() == text);
  }
  CHECK(parse_address("tls://[::1]:80").value().host_and_port() == "[::1]:80");
  for (const char* port : {"127.0.0.1:x", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1", "[::1]:8 0", "host:1x"}) {
    CHECK(contains(parse_address(port).message(), "not a port"));
  }
  for (const char* other : {"", "a b:1", "http://host:80", "-oProxy:1", "tls://", "1:2:3:x", "a/b:80"}) {
    REQUIRE_FALSE(parse_address(other).ok());
    CHECK(contains(parse_address(other).message(), "HOST:PORT"));
  }
}

TEST_CASE("only what cannot leave this machine may go unencrypted") {
  for (const char* own : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "[::ffff:127.0.0.1]:1"}) {
    CHECK_FALSE(needs_tls(parse_address(own).value()));
  }
  for (const char* other : {"0.0.0.0:1", "192.168.1.5:1", "trn1-07:1", "[::]:1", "[::ffff:10.0.0.1]:1", "1.1.1.1:1",
                            "localhost.example:1", "tls://127.0.0.1:1"}) {
    CHECK(needs_tls(parse_address(other).value()));
  }
}

}  // namespace
}  // namespace accelscope::capture
