#include "capture/sources/chrome/source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <thread>

#include "capture/sources/base/sinks.h"
#include "capture/sources/chrome/importer.h"

namespace accelscope::capture::sources::chrome {
namespace {

constexpr int kCertain = 95;  // the table of events is there
constexpr int kLikely = 70;   // keys that only such traces have, or rows that look like events

[[nodiscard]] bool contains_key(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::size_t after = text.find_first_not_of(" \t\r\n", at + key.size());
    if (after != std::string_view::npos && text[after] == ':') return true;
  }
  return false;
}

}  // namespace

int probe_chrome_json(std::string_view text, const std::string& /*path*/) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return 0;
  const auto has = [&](std::string_view key) { return contains_key(text, key); };
  if (text[first] == '[') return has("\"ph\"") && (has("\"ts\"") || has("\"name\"")) ? kLikely : 0;
  if (text[first] != '{') return 0;
  if (has("\"traceEvents\"")) return kCertain;
  constexpr std::array<std::string_view, 6> kTelling = {"\"deviceProperties\"",      "\"distributedInfo\"",
                                                        "\"displayTimeUnit\"",       "\"baseTimeNanoseconds\"",
                                                        "\"torch_profiler_kwargs\"", "\"systemTraceEvents\""};
  return std::any_of(kTelling.begin(), kTelling.end(), has) ? kLikely : 0;
}

std::optional<std::uint32_t> rank_in_chrome_json(std::string_view head) {
  const std::size_t at = head.find("\"distributedInfo\"");
  if (at == std::string_view::npos) return std::nullopt;
  constexpr std::size_t kFar = 4096;  // what the object says of groups of ranks may be long, and comes behind it
  constexpr std::string_view kKey = "\"rank\"";
  std::string_view object = head.substr(at, kFar);
  object = object.substr(0, std::min(object.find("\"traceEvents\""), object.size()));
  const std::size_t key = object.find(kKey);
  if (key == std::string_view::npos) return std::nullopt;
  std::string_view rest = object.substr(key + kKey.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n:"), rest.size()));
  std::uint32_t rank = 0;
  const auto [end, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
  if (wrong != std::errc() || end == rest.data() + rest.size()) return std::nullopt;  // it may go on
  return rank;
}

Result<void> import_chrome_json(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                                const ImportOptions& options, EventSink& sink, const ChromeReading& reading) {
  constexpr unsigned kMostThreads = 4;
  const unsigned threads =
      reading.threads > 0 ? reading.threads : std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  json::JsonTableReader::Options reader;
  reader.further_documents = true;  // Proton writes one for each stream
  reader.window_bytes = reading.window_bytes;
  reader.opened_table = kEventTable;  // chrome://tracing wraps traces that it was handed once more
  AsyncSink receiver(sink);
  ChromeImporter importer(name, options, receiver);
  if (Result<void> done = importer.run(std::move(bytes), reader, threads); !done) return done;
  return receiver.finish();
}

Result<void> import_chrome_json(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_chrome_json(std::move(source.value()), path, options, sink);
}

}  // namespace accelscope::capture::sources::chrome
