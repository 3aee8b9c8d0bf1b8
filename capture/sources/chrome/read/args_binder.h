// Turns the args of one event after another into values of a table's columns. Args that come again as the same text
// are bound once: the cache is keyed by the raw bytes. One per thread.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/json/json_field.h"
#include "capture/sources/chrome/read/event_batch.h"
#include "capture/sources/chrome/read/shared_strings.h"
#include "capture/sources/chrome/read/table_binding.h"

namespace accelscope::capture::sources::chrome {

class ArgsBinder {
 public:
  explicit ArgsBinder(LocalStrings& strings) : strings_(strings) {}

  // The values of the args object `args` (may be empty) of an event and of fields that lie beside it. Where the name
  // tells the place in the source, so do the values.
  [[nodiscard]] ValueRange bind(const TableBinding& binding, std::string_view name, std::string_view args,
                                std::span<const json::JsonField> beside, EventBatch& batch);
  // Values that are cached refer to a batch; call this whenever another one is filled.
  void begin_batch() noexcept { ++batch_number_; }

 private:
  struct CacheEntry {
    std::string args;
    const TableBinding* binding = nullptr;
    std::vector<BoundValue> values;
    std::uint64_t batch_number = 0;
    ValueRange range;  // in that batch
  };
  // Events of a table have their keys in the same order nearly always.
  struct Guess {
    std::string key;
    std::uint32_t column = TableBinding::kNoColumn;
  };
  // Tables whose args rarely repeat are not looked up for a while.
  struct Usefulness {
    std::uint32_t hits = 0;
    std::uint32_t lookups = 0;
    std::uint32_t pause = 0;
  };
  static constexpr std::size_t kCacheEntries = 1U << 12;
  static constexpr std::size_t kMaxCachedBytes = 512;

  [[nodiscard]] bool worth_a_lookup(Usefulness& use) const noexcept;
  void bind_object(const TableBinding& binding, std::string_view args, EventBatch& batch);
  [[nodiscard]] std::uint32_t column_of(const TableBinding& binding, std::string_view key);
  void bind_field(const TableBinding& binding, const json::JsonField& field, EventBatch& batch);
  // The text of a value for a string or text column; valid until the next call.
  [[nodiscard]] std::string_view text_of(const json::JsonField& field, Role role);
  void add_location(const TableBinding& binding, std::string_view name, EventBatch& batch);
  void add_pool(const TableBinding& binding, EventBatch& batch);
  void add_launch(const TableBinding& binding, EventBatch& batch);
  void add_transfer(const TableBinding& binding, EventBatch& batch);
  [[nodiscard]] std::string_view spaced(std::string_view list);  // valid until the next call
  // The text that was bound to a column; "" if there is none.
  [[nodiscard]] std::string_view string_at(const TableBinding& binding, const EventBatch& batch,
                                           std::uint32_t column) const;
  [[nodiscard]] const BoundValue* value_of(const EventBatch& batch, std::uint32_t column) const noexcept;

  LocalStrings& strings_;
  std::array<Usefulness, kChromeTableCount> use_{};
  std::array<std::vector<Guess>, kChromeTableCount> guesses_;
  std::size_t next_guess_ = 0;  // place of the next key in its event
  std::vector<CacheEntry> cache_{kCacheEntries};
  std::uint64_t batch_number_ = 0;
  std::size_t first_ = 0;  // value of the event at hand
  std::string rest_;       // JSON of what fits no column
  std::string scratch_;
  std::string spaced_;
};

}  // namespace accelscope::capture::sources::chrome
