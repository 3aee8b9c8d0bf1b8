#include "wire_support.h"

#include <doctest/doctest.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <mutex>
#include <utility>

#include "core/chunk/chunk_builder.h"

namespace accelscope::capture {
namespace {

constexpr SchemaNumber kSchema = 0;

Schema work_schema() {
  Schema schema{.number = kSchema, .name = "work", .kind = EventKind::slice};
  schema.columns = {{.name = "id", .type = ColumnType::uint64, .required = true},
                    {.name = "bytes", .type = ColumnType::uint64, .required = true},
                    {.name = "wait_ns", .type = ColumnType::int64, .required = true},
                    {.name = "queue", .type = ColumnType::int64, .required = true},
                    {.name = "flops", .type = ColumnType::float64, .required = true},
                    {.name = "address", .type = ColumnType::uint64, .required = true}};
  return schema;
}

Result<void> define_stream(std::uint32_t lanes, EventSink& sink) {
  std::vector<Definition> definitions = {work_schema(), StringBatch{1, {"MATMUL", "LDWEIGHTS", "COPY", "WAIT"}}};
  for (std::uint32_t i = 0; i < lanes; ++i) {
    definitions.emplace_back(
        Track{.number = i, .name = "engine " + std::to_string(i), .kind = "engine", .schema = kSchema});
    definitions.emplace_back(Lane{.number = i, .track = i, .depth = 0});
  }
  for (const Definition& definition : definitions) {
    if (Result<void> done = sink.define(definition); !done) return done;
  }
  return {};
}

void append_event(ChunkBuilder& builder) {
  const std::uint64_t ordinal = builder.next_ordinal();
  const auto start = static_cast<std::int64_t>(ordinal * 100);
  const std::uint32_t row = builder.append(start, static_cast<std::int64_t>(40 + ordinal % 50), 1 + ordinal % 4);
  builder.set_uint64(0, row, ordinal);
  builder.set_uint64(1, row, 512 + (ordinal % 8) * 64);
  builder.set_int64(2, row, static_cast<std::int64_t>(ordinal % 23));
  builder.set_int64(3, row, static_cast<std::int64_t>(ordinal % 16));
  builder.set_float64(4, row, static_cast<double>(ordinal % 128));
  builder.set_uint64(5, row, 0x20000000 + (ordinal % 4096) * 64);
}

Result<void> write_lanes(std::uint32_t lanes, std::uint64_t events, EventSink& sink) {
  if (Result<void> done = define_stream(lanes, sink); !done) return done;
  const Schema schema = work_schema();
  std::vector<std::unique_ptr<ChunkBuilder>> builders;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) builders.push_back(std::make_unique<ChunkBuilder>(schema, lane));
  for (std::uint64_t left = events; left > 0 && !sink.cancelled();) {
    for (const auto& builder : builders) {
      while (!builder->full() && left > 0) {
        append_event(*builder);
        --left;
      }
      if (builder->empty()) continue;
      if (Result<void> done = sink.append(builder->seal()); !done) return done;
    }
  }
  return {};
}

class FrameCollector final : public EventSink {
 public:
  Result<void> define(const Definition& definition) override {
    frames.push_back(wire::make_frame(wire::FrameType::definition, encode(definition), frames.size() + 1));
    return {};
  }
  Result<void> append(SealedChunk chunk) override {
    frames.push_back(wire::make_frame(wire::FrameType::chunk, std::move(chunk.bytes), frames.size() + 1));
    return {};
  }
  std::vector<wire::Frame> frames;
};

}  // namespace

Result<void> write_stream(const SyntheticStream& stream, EventSink& sink) {
  return write_lanes(stream.lanes, stream.events, sink);
}

agent::SourceFunction synthetic_source(SyntheticStream stream) {
  return [stream](EventSink& sink) { return write_stream(stream, sink); };
}

agent::SourceFunction endless_source() {
  return [](EventSink& sink) { return write_lanes(4, ~std::uint64_t{0}, sink); };
}

wire::LinkLimits quick_limits() {
  wire::LinkLimits limits;
  limits.tick = std::chrono::milliseconds(10);
  limits.heartbeat = std::chrono::milliseconds(50);
  return limits;
}

client::ConnectionOptions connection_to(const system::Address& address) {
  client::ConnectionOptions options;
  options.connector = wire::tcp_connector(address, {});
  options.place = address.text();
  options.stay_after_end = false;
  options.limits = quick_limits();
  return options;
}

struct RunningAgent::Log {
  std::mutex mutex;
  std::string lines;
};

RunningAgent::RunningAgent(agent::SourceFunction source, agent::AgentOptions options) : log_(std::make_shared<Log>()) {
  if (options.listen.port == agent::AgentOptions{}.listen.port) options.listen.port = 0;
  options.log = [log = log_, also = options.log](const std::string& line) {
    if (also) also(line);
    const std::lock_guard lock(log->mutex);
    log->lines += line + '\n';
  };
  Result<std::unique_ptr<agent::Agent>> agent = agent::Agent::listen(std::move(options), std::move(source));
  REQUIRE(agent.ok());
  agent_ = std::move(agent).value();
  thread_ = std::thread([this] { outcome_ = agent_->run(); });
}

RunningAgent::~RunningAgent() {
  agent_->stop();
  if (thread_.joinable()) thread_.join();
}

Result<void> RunningAgent::join() {
  thread_.join();
  return outcome_;
}

std::string RunningAgent::log() const {
  const std::lock_guard lock(log_->mutex);
  return log_->lines;
}

struct RawPeer::Implementation {
  asio::io_context context;
  asio::ip::tcp::socket socket{context};
};

RawPeer::RawPeer(std::unique_ptr<Implementation> impl) : impl_(std::move(impl)) {}
RawPeer::RawPeer(RawPeer&&) noexcept = default;
RawPeer::~RawPeer() = default;

RawPeer RawPeer::connect_to(const system::Address& address) {
  auto impl = std::make_unique<Implementation>();
  impl->socket.connect({asio::ip::make_address(address.host), address.port});
  return RawPeer(std::move(impl));
}

bool RawPeer::send(ByteView bytes) {
  asio::error_code failure;
  asio::write(impl_->socket, asio::buffer(bytes.data(), bytes.size()), failure);
  return !failure;
}

bool RawPeer::send(const wire::Frame& frame) {
  return send(std::as_bytes(std::span(&frame.header, 1))) && (frame.body.empty() || send(ByteView(frame.body)));
}

std::optional<wire::Frame> RawPeer::receive() {
  asio::error_code failure;
  wire::Frame frame;
  asio::read(impl_->socket, asio::buffer(&frame.header, sizeof frame.header), failure);
  if (failure) return {};
  frame.body.resize(frame.header.length);
  asio::read(impl_->socket, asio::buffer(frame.body), failure);
  if (failure) return {};
  return frame;
}

std::optional<wire::Frame> RawPeer::receive(wire::FrameType type) {
  std::optional<wire::Frame> frame = receive();
  while (frame && frame->header.type != type) frame = receive();
  return frame;
}

void RawPeer::close() { impl_->socket.close(); }

struct RawListener::Implementation {
  explicit Implementation(std::uint16_t port) : acceptor(context, {asio::ip::address_v4::loopback(), port}) {}
  asio::io_context context;
  asio::ip::tcp::acceptor acceptor;
};

RawListener::RawListener(std::uint16_t port) : impl_(std::make_unique<Implementation>(port)) {}
RawListener::~RawListener() = default;

system::Address RawListener::address() const { return {"127.0.0.1", impl_->acceptor.local_endpoint().port()}; }

RawPeer RawListener::accept() {
  auto peer = std::make_unique<RawPeer::Implementation>();
  impl_->acceptor.accept(peer->socket);
  return RawPeer(std::move(peer));
}

wire::Hello agent_hello() {
  wire::Hello hello;
  hello.role = wire::PeerRole::agent;
  hello.program = "accelscope-agent";
  hello.program_version = "1.2.3";
  hello.session_id = "5e55";
  hello.description = "a test";
  return hello;
}

wire::Hello viewer_hello() {
  wire::Hello hello;
  hello.role = wire::PeerRole::viewer;
  hello.program = "accelscope";
  hello.program_version = "1.2.3";
  return hello;
}

std::vector<wire::Frame> frames_of(const SyntheticStream& stream) {
  FrameCollector collector;
  const Result<void> done = write_stream(stream, collector);
  REQUIRE(done.ok());
  return std::move(collector.frames);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace accelscope::capture
