#include "capture/wire/frame.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "capture/system/address.h"
#include "capture/wire/messages.h"
#include "wire_support.h"

namespace accelscope::capture {
namespace {

constexpr wire::FrameType kAllTypes[] = {
    wire::FrameType::hello,      wire::FrameType::error,    wire::FrameType::heartbeat, wire::FrameType::start,
    wire::FrameType::stop,       wire::FrameType::received, wire::FrameType::durable,   wire::FrameType::progress,
    wire::FrameType::definition, wire::FrameType::chunk,    wire::FrameType::end};

Bytes random_bytes(std::mt19937& random, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

ByteView header_bytes(const wire::FrameHeader& header) { return std::as_bytes(std::span(&header, 1)); }

TEST_CASE("a frame of any type and size is read as it was written") {
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    const wire::FrameType type = kAllTypes[random() % std::size(kAllTypes)];
    const wire::FrameTypeFacts* facts = find_frame_type(type);
    const std::size_t size = random() % (std::min(facts->max_length, 5'000U) + 1);
    const wire::Frame frame =
        wire::make_frame(type, random_bytes(random, size), facts->numbered ? 1 + random() % 1'000 : 0);
    const Result<wire::FrameHeader> header = wire::parse_frame_header(header_bytes(frame.header));
    REQUIRE(header.ok());
    CHECK(header.value().type == type);
    CHECK(header.value().length == size);
    CHECK(header.value().sequence == frame.header.sequence);
    CHECK(wire::verify_frame(header.value(), frame.body).ok());
  }
}

TEST_CASE("any single flipped bit of a frame is noticed") {
  std::mt19937 random(2);
  const wire::Frame frame = wire::make_frame(wire::FrameType::chunk, random_bytes(random, 300), 7);
  Bytes bytes(header_bytes(frame.header).begin(), header_bytes(frame.header).end());
  bytes.insert(bytes.end(), frame.body.begin(), frame.body.end());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes damaged = bytes;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const Result<wire::FrameHeader> header = wire::parse_frame_header(ByteView(damaged).first(wire::kFrameHeaderBytes));
    const bool noticed =
        !header || !wire::verify_frame(header.value(), ByteView(damaged).subspan(wire::kFrameHeaderBytes));
    REQUIRE_MESSAGE(noticed, "bit ", bit);
  }
}

TEST_CASE("a frame that claims to be larger than its type may be is refused before its body is read") {
  wire::FrameHeader header = wire::make_frame(wire::FrameType::chunk, {}, 1).header;
  header.length = 0xffffffffU;
  CHECK(contains(wire::parse_frame_header(header_bytes(header)).message(), "at most"));
  header = wire::make_frame(wire::FrameType::hello, {}).header;
  header.length = 1U << 20;
  CHECK_FALSE(wire::parse_frame_header(header_bytes(header)).ok());
}

TEST_CASE("a frame type of a later version is skipped if it may be, else refused") {
  wire::FrameHeader header = wire::make_frame(wire::FrameType::heartbeat, {}).header;
  header.type = static_cast<wire::FrameType>(900);
  CHECK(contains(wire::parse_frame_header(header_bytes(header)).message(), "does not know"));
  header.flags = wire::kMayBeSkipped;
  CHECK(wire::parse_frame_header(header_bytes(header)).ok());
}

TEST_CASE("exactly data frames carry numbers") {
  wire::FrameHeader header = wire::make_frame(wire::FrameType::chunk, {}, 1).header;
  header.sequence = 0;
  CHECK_FALSE(wire::parse_frame_header(header_bytes(header)).ok());
  header = wire::make_frame(wire::FrameType::start, {}).header;
  header.sequence = 4;
  CHECK_FALSE(wire::parse_frame_header(header_bytes(header)).ok());
}

TEST_CASE("every message is read as it was written, and fails when it is cut anywhere") {
  wire::Hello hello = agent_hello();
  hello.window_bytes = 1'234;
  hello.capabilities = {"stop", "durable"};
  const wire::StreamEnd end{wire::Outcome::stopped, 9, 100, 3, "enough", {{0, 60}, {5, 40}}};
  const wire::ProgressReport progress{1, 2, 3, "text"};
  const wire::ErrorMessage error{wire::ErrorCode::busy, "later"};
  CHECK(wire::decode<wire::Hello>(wire::encode(hello).body).value() == hello);
  CHECK(wire::decode<wire::StreamEnd>(wire::encode(end).body).value() == end);
  CHECK(wire::decode<wire::ProgressReport>(wire::encode(progress).body).value() == progress);
  CHECK(wire::decode<wire::ErrorMessage>(wire::encode(error).body).value() == error);
  CHECK(wire::decode<wire::Stop>(wire::encode(wire::Stop{"why"}).body).value() == wire::Stop{"why"});
  CHECK(wire::decode<wire::Start>(wire::encode(wire::Start{.after_sequence = 5}).body).value() ==
        wire::Start{.after_sequence = 5});
  CHECK(wire::decode<wire::Received>(wire::encode(wire::Received{8}).body).value() == wire::Received{8});
  CHECK(wire::encode(wire::Durable{8}).header.type == wire::FrameType::durable);
  const Bytes hello_bytes = wire::encode(hello).body;
  for (std::size_t cut = 0; cut < hello_bytes.size(); ++cut) {
    REQUIRE_FALSE(wire::decode<wire::Hello>(ByteView(hello_bytes).first(cut)).ok());
  }
  const Bytes end_bytes = wire::encode(end).body;
  for (std::size_t cut = 0; cut < end_bytes.size(); ++cut) {
    REQUIRE_FALSE(wire::decode<wire::StreamEnd>(ByteView(end_bytes).first(cut)).ok());
  }
}

TEST_CASE("what is said about captures is read as it was written, and fails when it is cut anywhere") {
  const request::CaptureRequest request{.name = "mlp",
                                        .kinds = {{"program", {{"sample-interval", "10ms"}}}, {"simulate", {}}},
                                        .program = "python3",
                                        .arguments = {"bench.py", "--m", "512"},
                                        .directory = "/tmp",
                                        .environment = {"A=b"},
                                        .script = "echo $A\n",
                                        .paused = true,
                                        .duration_seconds = 1.5,
                                        .results = {"out/*.npy"}};
  const request::KindOption option{"detail", request::OptionType::choice, "full", "How much.", {"full", "slim"}, true,
                                   true};
  const request::KindFacts kind{"simulate", "Simulated accelerator", "Needs nothing.", false, false,
                                {option},   {{true, "ready"}}};
  const wire::CaptureOffer offer{"ab", "mlp", "simulated", wire::CaptureState::interrupted, 2, 9, 70, 5, "127.0.0.1:5"};
  const auto check = []<typename Message>(const Message& message) {
    const Bytes bytes = wire::encode(message).body;
    CHECK(wire::decode<Message>(bytes).value() == message);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut)
      REQUIRE_FALSE(wire::decode<Message>(ByteView(bytes).first(cut)).ok());
  };
  check(wire::ProofMessage{"mac"});
  const wire::Welcome welcome{"mac", "trn1", "Linux x86_64", true, "", {kind, kind}, {offer}};
  const Bytes welcome_bytes = wire::encode(welcome).body;
  CHECK(wire::decode<wire::Welcome>(welcome_bytes).value() == welcome);
  std::size_t whole = 0;  // as an older agent writes it, which knows no conditions
  for (std::size_t cut = 0; cut < welcome_bytes.size(); ++cut)
    whole += wire::decode<wire::Welcome>(ByteView(welcome_bytes).first(cut)).ok() ? 1 : 0;
  CHECK(whole == 1);
  check(wire::Start{7, wire::StartMode::take_up, "ab", request});
  check(wire::Started{"ab", "mlp", "simulated", 5, true});
  check(wire::StateReport{wire::CaptureState::paused, "by hand", "me", 3, 17});
  check(wire::ClockReport{-5, 6});
  check(wire::Gap{3, 9, 100, "let go"});
  check(wire::FilePiece{"a/b", 0755, 2, 6, "cdef"});
  check(wire::Fetch{"ab", {"*.npy"}});
  check(wire::Fetched{2, 100, "none"});
  check(wire::Discard{"ab"});
  CHECK(read_fields<request::CaptureRequest>(write_fields(request), "request").value() == request);
  CHECK(wire::encode(wire::Pause{"x"}).header.type == wire::FrameType::pause);
  CHECK(wire::encode(wire::Resume{"x"}).header.type == wire::FrameType::resume);
}

TEST_CASE("a file's path cannot leave the folder of the capture") {
  for (const char* path : {"a", "a/b.txt", "..a/b..", "a b"}) CHECK_MESSAGE(wire::safe_relative_path(path), path);
  for (const char* path : {"", "/a", "a/", "..", "a/../b", "a//b", "./a", "a\\b", "a\nb"}) {
    CHECK_MESSAGE(!wire::safe_relative_path(path), path);
    CHECK_FALSE(wire::decode<wire::FilePiece>(wire::encode(wire::FilePiece{path, 0644, 0, 0, ""}).body).ok());
  }
  CHECK_FALSE(wire::decode<wire::FilePiece>(wire::encode(wire::FilePiece{"a", 0644, 5, 6, "cdef"}).body).ok());
}

TEST_CASE("a message with fields that a newer minor version added is understood") {
  Bytes body = wire::encode(agent_hello()).body;
  body.resize(body.size() + 40, std::byte{0x5a});
  CHECK(wire::decode<wire::Hello>(body).value() == agent_hello());
}

TEST_CASE("a peer cannot make this side keep long texts or print control characters") {
  ByteWriter writer;
  for (const std::uint16_t number : {wire::kProtocolMajor, wire::kProtocolMinor}) writer.number(number);
  writer.number(static_cast<std::uint8_t>(wire::PeerRole::agent));
  writer.text(std::string(60'000, 'x'));
  CHECK(contains(wire::decode<wire::Hello>(writer.view()).message(), "too long"));
  CHECK(wire::printable("a\x1b[31m\nb") == "a\xef\xbf\xbd[31m b");
  CHECK(wire::printable(std::string(5'000, 'x')).size() == 1'024);
}

TEST_CASE("another major version gets a message that names the side to update") {
  wire::Hello agent = agent_hello();
  const wire::Hello viewer = viewer_hello();
  CHECK(wire::check_versions(viewer, agent).ok());
  agent.minor = wire::kProtocolMinor + 3;
  CHECK(wire::check_versions(viewer, agent).ok());
  agent.major = wire::kProtocolMajor + 1;
  CHECK(contains(wire::check_versions(viewer, agent).message(), "; update accelscope"));
  CHECK_FALSE(contains(wire::check_versions(viewer, agent).message(), "; update accelscope-agent"));
  agent.major = wire::kProtocolMajor - 1;
  CHECK(contains(wire::check_versions(viewer, agent).message(), "; update accelscope-agent"));
}

TEST_CASE("an address is a name or an IP address with a port, and its text is what was meant") {
  CHECK(system::parse_address("127.0.0.1:7420").value() == system::Address{"127.0.0.1", 7420});
  CHECK(system::parse_address("localhost:99").value() == system::Address{"127.0.0.1", 99});
  CHECK(system::parse_address("127.3.2.1").value() == system::Address{"127.3.2.1", system::kDefaultPort});
  CHECK(system::parse_address("[::1]:80").value() == system::Address{"::1", 80});
  CHECK(system::parse_address("0.0.0.0:1").value() == system::Address{"0.0.0.0", 1});
  CHECK(system::parse_address("TRN1-07.lab:7420").value() == system::Address{"trn1-07.lab", 7420});
  CHECK(system::parse_address("[0:0::0]").value() == system::Address{"::", system::kDefaultPort});
  CHECK(system::parse_address("tls://[::1]:80").value() == system::Address{"::1", 80, true});
  for (const char* text : {"[::1]:80", "10.0.0.7:1", "trn1-07:7420", "tls://127.0.0.1:7420", "[fd00::2]:9"}) {
    CHECK(system::parse_address(text).value().text() == text);
  }
  CHECK(system::parse_address("tls://[::1]:80").value().host_and_port() == "[::1]:80");
  for (const char* port : {"127.0.0.1:x", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:-1", "[::1]:8 0", "host:1x"}) {
    CHECK(contains(system::parse_address(port).message(), "not a port"));
  }
  for (const char* other : {"", "a b:1", "http://host:80", "-oProxy:1", "tls://", "1:2:3:x", "a/b:80"}) {
    REQUIRE_FALSE(system::parse_address(other).ok());
    CHECK(contains(system::parse_address(other).message(), "HOST:PORT"));
  }
}

TEST_CASE("only what cannot leave this machine may go unencrypted") {
  for (const char* own : {"127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "localhost:1", "[::ffff:127.0.0.1]:1"}) {
    CHECK_FALSE(system::needs_tls(system::parse_address(own).value()));
  }
  for (const char* other : {"0.0.0.0:1", "192.168.1.5:1", "trn1-07:1", "[::]:1", "[::ffff:10.0.0.1]:1", "1.1.1.1:1",
                            "localhost.example:1", "tls://127.0.0.1:1"}) {
    CHECK(system::needs_tls(system::parse_address(other).value()));
  }
}

}  // namespace
}  // namespace accelscope::capture
