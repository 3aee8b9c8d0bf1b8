// The session's strings. Each source numbers its own (scope-local ids, as chunks hold them); the pool maps them
// to session-wide ids, so that equal texts of different sources are one string. Appended to by the ingest
// thread, read by any thread; ids and texts never change.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/model/definitions.h"

namespace accelscope {

class StringPool {
 public:
  // Sources keep within SessionWriter::kMaxStrings; an id beyond this is damage.
  static constexpr StringId kMostLocalStrings = 16'000'000;

  StringPool();
  ~StringPool();
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;

  // Fails if the batch does not continue the scope's ids, or if there are more ids than a session may have.
  Result<void> add(std::uint32_t scope, const StringBatch& batch);
  [[nodiscard]] std::uint64_t text_bytes() const noexcept;

  [[nodiscard]] StringId size() const noexcept;                                                // ids are 0 .. size - 1
  [[nodiscard]] std::string_view text(StringId id) const noexcept;                             // "" if unknown
  [[nodiscard]] std::uint8_t slot(StringId id) const noexcept;                                 // of the slice palette
  [[nodiscard]] StringId find(std::string_view text) const noexcept;                           // kNone if absent
  [[nodiscard]] StringId session_id(std::uint32_t scope, std::uint32_t local) const noexcept;  // 0 if unknown
  [[nodiscard]] std::uint32_t scope_size(std::uint32_t scope) const noexcept;  // local ids are 0 .. size - 1
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  // A plain copy of one scope's map (local id -> session id) from a local id on, for loops.
  [[nodiscard]] std::vector<StringId> scope_map(std::uint32_t scope, std::size_t from = 0) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> impl_;
};

}  // namespace accelscope
