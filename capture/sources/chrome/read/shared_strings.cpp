#include "capture/sources/chrome/read/shared_strings.h"

#include "core/base/checksum.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::chrome {
namespace {

constexpr std::string_view kOverflowString = "(more names than can be kept apart)";
constexpr std::size_t kBatchStrings = 65536;

}  // namespace

SharedStrings::Known SharedStrings::intern(std::string_view text) {
  if (text.empty()) return {};
  const std::scoped_lock lock(mutex_);
  if (const auto found = ids_.find(text); found != ids_.end()) return {found->second, found->first};
  if (strings_.size() >= SessionWriter::kMaxStrings) {
    ++overflowing_;
    text = kOverflowString;
    if (const auto found = ids_.find(text); found != ids_.end()) return {found->second, found->first};
  }
  const std::string_view kept = strings_.emplace_back(text);
  const auto id = static_cast<StringId>(strings_.size());
  ids_.emplace(kept, id);
  return {id, kept};
}

std::string_view SharedStrings::text(StringId id) const {
  const std::scoped_lock lock(mutex_);
  return id == 0 ? std::string_view{} : std::string_view(strings_[id - 1]);
}

Result<void> SharedStrings::define_all(EventSink& sink) const {
  const std::scoped_lock lock(mutex_);
  StringBatch batch;
  for (std::size_t first = 0; first < strings_.size(); first += kBatchStrings) {
    const std::size_t end = std::min(first + kBatchStrings, strings_.size());
    batch.first_id = static_cast<StringId>(first + 1);
    batch.strings.assign(strings_.begin() + static_cast<std::ptrdiff_t>(first),
                         strings_.begin() + static_cast<std::ptrdiff_t>(end));
    if (Result<void> done = sink.define(batch); !done) return done;
  }
  return {};
}

StringId LocalStrings::intern(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint64_t hash = checksum(std::as_bytes(std::span(text)));
  SharedStrings::Known& place = places_[hash & (kPlaces - 1)];
  if (place.text != text) place = shared_.intern(text);
  // Past the dictionary's limit the shared text is another one; the place then misses every time.
  return place.id;
}

}  // namespace accelscope::capture::sources::chrome
