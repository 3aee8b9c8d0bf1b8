// The names of one view (a timeline's table of events, a panel's list) beside each other: every name reads as short as
// it can without reading like another one. Where shortening makes two names equal, what tells them apart is kept or
// added: "vectorized_elementwise_kernel MulFunctor" beside "vectorized_elementwise_kernel FillFunctor".
//
//   ShortNames names;
//   for (...) names.add(name);                 // in any order; a name that is asked for is added too
//   names.fitting(name, 20)                    // the longest form of at most 20 characters; "" if none is
//   names.usual(name)                          // what is shown where there is room
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/names/name_forms.h"

namespace accelscope {

class ShortNames {
 public:
  ShortNames();
  ~ShortNames();
  ShortNames(ShortNames&&) noexcept;
  ShortNames& operator=(ShortNames&&) noexcept;

  void add(std::string_view name);
  // Longest first, at least one; none of them is a form of another name here. Valid until the next call.
  [[nodiscard]] const std::vector<std::string>& forms(std::string_view name);
  [[nodiscard]] const std::string& usual(std::string_view name) { return forms(name).front(); }
  [[nodiscard]] std::string_view fitting(std::string_view name, std::size_t characters);
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry;
  using Group = std::vector<const Entry*>;  // names that share a form, one of each identity
  Entry& entry(std::string_view name);
  [[nodiscard]] std::size_t stamp(const Entry& entry) const;
  void number_words(Entry& entry);
  [[nodiscard]] static std::string telling_words(const Entry& entry, const Group& group);
  void choose(Entry& entry) const;

  std::unordered_map<std::string, std::unique_ptr<Entry>> entries_;
  std::unordered_map<std::string, Group> groups_;  // by form
  std::unordered_map<std::string, std::uint32_t> word_numbers_;
};

// Characters of a text, not bytes.
[[nodiscard]] std::size_t character_count(std::string_view text) noexcept;

// What users call the events of a table, by the name that SQL knows it by: "cc_op" -> "Collective operation".

// Of a table that is not known, its name as words: "perf_counter" -> "Perf counter".
[[nodiscard]] std::string table_title(std::string_view table);

}  // namespace accelscope
