#include "core/store/string_pool.h"

#include <fmt/format.h>

#include <deque>

#include "core/model/palette.h"
#include "core/store/definition_limits.h"

namespace accelscope {

struct StringPool::Implementation {
  mutable std::shared_mutex mutex;
  std::deque<std::string> texts{std::string()};  // never moves an element
  std::vector<std::uint8_t> slots{0};
  std::unordered_map<std::string_view, StringId> ids{{std::string_view(), 0}};
  std::vector<std::vector<StringId>> scopes;  // local id -> session id
  std::uint64_t local_ids = 0;                // of all scopes
  std::size_t text_bytes = 0;

  StringId intern(std::string_view text) {
    if (const auto found = ids.find(text); found != ids.end()) return found->second;
    const auto id = static_cast<StringId>(texts.size());
    const std::string& retained = texts.emplace_back(text);
    slots.push_back(palette_slot(retained));
    ids.emplace(retained, id);
    text_bytes += text.size();
    return id;
  }
};

StringPool::StringPool() : impl_(std::make_unique<Implementation>()) {}
StringPool::~StringPool() = default;

Result<void> StringPool::add(std::uint32_t scope, const StringBatch& batch) {
  const std::unique_lock lock(impl_->mutex);
  if (impl_->scopes.size() <= scope) impl_->scopes.resize(scope + 1);
  std::vector<StringId>& ids = impl_->scopes[scope];
  if (ids.empty()) ids.push_back(0);
  if (batch.first_id != ids.size()) {
    return Error{fmt::format("strings from {} on do not continue the {} known ones; some were lost on the way",
                             batch.first_id, ids.size() - 1)};
  }
  if (impl_->local_ids + batch.strings.size() > DefinitionLimits::kStringIds) {
    return Error{fmt::format("the session has more than {} numbered names; capture or import less into one session",
                             DefinitionLimits::kStringIds)};
  }
  impl_->local_ids += batch.strings.size();
  for (const std::string& text : batch.strings) ids.push_back(impl_->intern(text));
  return {};
}

StringId StringPool::size() const noexcept {
  const std::shared_lock lock(impl_->mutex);
  return static_cast<StringId>(impl_->texts.size());
}

std::string_view StringPool::text(StringId id) const noexcept {
  const std::shared_lock lock(impl_->mutex);
  return id < impl_->texts.size() ? std::string_view(impl_->texts[id]) : std::string_view();
}

std::uint8_t StringPool::slot(StringId id) const noexcept {
  const std::shared_lock lock(impl_->mutex);
  return id < impl_->slots.size() ? impl_->slots[id] : std::uint8_t{0};
}

StringId StringPool::find(std::string_view text) const noexcept {
  const std::shared_lock lock(impl_->mutex);
  const auto found = impl_->ids.find(text);
  return found == impl_->ids.end() ? kNone : found->second;
}

StringId StringPool::session_id(std::uint32_t scope, std::uint32_t local) const noexcept {
  const std::shared_lock lock(impl_->mutex);
  if (scope >= impl_->scopes.size() || local >= impl_->scopes[scope].size()) return 0;
  return impl_->scopes[scope][local];
}

std::uint32_t StringPool::scope_size(std::uint32_t scope) const noexcept {
  const std::shared_lock lock(impl_->mutex);
  return scope < impl_->scopes.size() ? static_cast<std::uint32_t>(impl_->scopes[scope].size()) : 0;
}

std::vector<StringId> StringPool::scope_map(std::uint32_t scope, std::size_t from) const {
  const std::shared_lock lock(impl_->mutex);
  if (scope >= impl_->scopes.size() || from >= impl_->scopes[scope].size()) return {};
  const std::vector<StringId>& ids = impl_->scopes[scope];
  return {ids.begin() + static_cast<std::ptrdiff_t>(from), ids.end()};
}

std::uint64_t StringPool::text_bytes() const noexcept {
  const std::shared_lock lock(impl_->mutex);
  return impl_->text_bytes;
}

std::size_t StringPool::memory_bytes() const noexcept {
  const std::shared_lock lock(impl_->mutex);
  std::size_t bytes = impl_->text_bytes + impl_->texts.size() * (sizeof(std::string) + 1 + 48);
  for (const auto& scope : impl_->scopes) bytes += scope.size() * sizeof(StringId);
  return bytes;
}

}  // namespace accelscope
