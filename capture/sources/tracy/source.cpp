#include "capture/sources/tracy/source.h"

#include <fmt/format.h>

#include "capture/sources/base/sinks.h"
#include "capture/sources/tracy/importer.h"

namespace accelscope::capture::sources::tracy {

int probe_tracy(std::string_view head, const std::string& /*path*/) {
  constexpr int kCertain = 95;
  return begins_as_tracy(head) ? kCertain : 0;
}

Result<void> import_tracy(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                          const ImportOptions& options, EventSink& sink) {
  Result<TracyBlocks> blocks = TracyBlocks::open(std::move(bytes));
  if (!blocks) return Error{fmt::format("{}: {}", name, blocks.message())};
  AsyncSink receiver(sink);
  if (Result<void> done = TracyImport(name, options, std::move(blocks).value(), receiver).run(); !done) return done;
  return receiver.finish();
}

Result<void> import_tracy(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_tracy(std::move(source.value()), path, options, sink);
}

}  // namespace accelscope::capture::sources::tracy
