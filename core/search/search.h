// Finds events by name and by field.
//
//   auto query = parse_search("/mat(mul|vec)/ bytes>=1MiB");     // errors say which part is wrong
//   auto search = EventSearch::run(context, *query, lanes);      // counts the hits, on the pool
//   search->total();  search->hits_of_lane(i);
//   auto hits = search->hits(context);                           // finds them: one mask, for all that follows
//   hits->next(reader, position);  hits->rank(reader, position);  hits->list(context, range, 1000);  hits->mask();
//
// Terms stand side by side and must all hold:
//   word  "some words"     the name contains it, upper and lower case alike
//   /expression/           RE2 in the name, /expression/i in any case; /./ events that have a source line, where any
//   may file.py:33             the event's source location ends with it column=value  != < <= > >=     a field of the
//   schema, or name, duration, start; numbers, sizes (1MiB), times (5us) column~text            it contains the text;
//   column~/expression/ as above. bytes, flops, layer: of any source "In msg nelems"=5      a column whose name has
//   blanks in it lane="stream 7"        its lane is called so, or "GPU 0 stream 7"; lane~stream, device=, host=
//   likewise
// An event whose schema lacks a named column, or that has no value in it, is no hit. With a mask in the context only
// events that pass it are hits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scan/chunk_scan.h"
#include "core/scan/event_reader.h"

namespace accelscope::search {

enum class Compare : std::uint8_t { equal, unequal, less, less_equal, greater, greater_equal, contains, matches };

struct SearchTerm {
  std::string column;  // empty: the name
  Compare compare = Compare::contains;
  std::string value;
  bool ignore_case = false;
  bool source_location = false;  // the value is "file:line"
};

struct SearchQuery {
  std::string text;
  std::vector<SearchTerm> terms;
};

// An empty text is a query without terms, which every event matches.
[[nodiscard]] Result<SearchQuery> parse_search(std::string_view text);

// Where a hit lies among all hits: by begin, then lane, then ordinal.
struct SearchPosition {
  std::int64_t begin_ns = 0;
  EventId event = kNoEvent;
  auto operator<=>(const SearchPosition&) const = default;
};

// The hits of a search in one snapshot, as a mask of events.
class SearchHits {
 public:
  SearchHits(std::shared_ptr<const Snapshot> snapshot, std::shared_ptr<const EventMask> mask)
      : snapshot_(std::move(snapshot)), mask_(std::move(mask)) {}

  [[nodiscard]] const std::shared_ptr<const EventMask>& mask() const noexcept { return mask_; }

  // Readers must read the snapshot that was searched.
  // The next hit after / the last before a position: {ns, kNoEvent} is after all that begin at ns; {ns, 0} is before
  // them.
  [[nodiscard]] Result<std::optional<SearchPosition>> next(EventReader& reader, SearchPosition from) const;
  [[nodiscard]] Result<std::optional<SearchPosition>> previous(EventReader& reader, SearchPosition from) const;
  // How many hits lie before a position, and whether its event is one itself: "3 of 1,234".
  struct Rank {
    std::uint64_t before = 0;
    bool is_hit = false;
  };
  [[nodiscard]] Result<Rank> rank(EventReader& reader, SearchPosition position) const;
  // The first `limit` hits of the range in order.
  [[nodiscard]] Result<std::vector<SearchPosition>> list(const QueryContext& context, const TimeRange& range,
                                                         std::size_t limit) const;

 private:
  // Hits of a lane that begin before a tick; that lie before a position, or at it.
  [[nodiscard]] Result<std::uint64_t> count_before(EventReader& reader, std::uint32_t lane_index,
                                                   std::int64_t ticks) const;
  [[nodiscard]] Result<std::uint64_t> count_before(EventReader& reader, std::uint32_t lane_index,
                                                   const SearchPosition& position, bool or_at) const;
  [[nodiscard]] Result<std::optional<SearchPosition>> step(EventReader& reader, SearchPosition from,
                                                           bool forward) const;

  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const EventMask> mask_;
};

class EventSearch {
 public:
  // Counts the hits: from totals alone where only names are asked for. Fails if an expression or a value is wrong, a
  // column is in no schema, or when cancelled. `previous`: the mask of the hits of the same search, in the same mask,
  // in an earlier snapshot, so that only what is new is read; or null.
  [[nodiscard]] static Result<EventSearch> run(const QueryContext& context, const SearchQuery& query,
                                               const LaneIndices& lanes, const EventMask* previous = nullptr);
  EventSearch(EventSearch&&) noexcept;
  EventSearch& operator=(EventSearch&&) noexcept;
  ~EventSearch();

  [[nodiscard]] std::uint64_t total() const noexcept;
  [[nodiscard]] std::uint64_t hits_of_lane(std::uint32_t lane_index) const noexcept;
  // Whether the query's conditions on the name hold; drawing dims the names for which they do not.
  [[nodiscard]] bool matches_name(StringId name) const noexcept;
  [[nodiscard]] bool names_only() const noexcept;  // the query asks for nothing but the name

  // The context must be of the snapshot that was searched. `previous` as above.
  [[nodiscard]] Result<SearchHits> hits(const QueryContext& context, const EventMask* previous = nullptr) const;

 private:
  struct Implementation;
  explicit EventSearch(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace accelscope::search
