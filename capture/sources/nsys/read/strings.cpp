#include "capture/sources/nsys/read/strings.h"

#include <algorithm>

#include "capture/sources/nsys/read/words.h"

namespace accelscope::capture::sources::nsys {
namespace {

constexpr std::string_view kStringTable = "StringIds";

}  // namespace

std::string_view name_in_form(std::string_view text, NsysNameForm form) noexcept {
  switch (form) {
    case NsysNameForm::whole:
      return text;
    case NsysNameForm::function:
      return without_version(text);
    case NsysNameForm::range:
      return without_operator_id(text);
  }
  return text;
}

Result<void> NsysStrings::open(const sqlite::ForeignDatabase& file) {
  if (!file.has_table(kStringTable)) return {};
  if (file.has_index(kStringTable, "id")) {
    Result<Statement> lookup = file.prepare("SELECT \"value\" FROM \"StringIds\" WHERE \"id\" = ?");
    if (!lookup) return lookup.error();
    lookup_ = std::move(lookup).value();
    any_ = true;
    return {};
  }
  // Files that tools have cut out of an export may have no index.
  Result<sqlite::ForeignRows> rows = file.rows(kStringTable, {"id", "value"});
  if (!rows) return rows.error();
  while (rows->next()) whole_.try_emplace(rows->integer(0), sqlite::valid_text(rows->text(1), mended_));
  whole_read_ = true;
  return rows->status();
}

std::string_view NsysStrings::text(std::int64_t number) {
  if (whole_read_) {
    const auto found = whole_.find(number);
    missing_ += found == whole_.end() ? 1 : 0;
    return found == whole_.end() ? std::string_view{} : std::string_view(found->second);
  }
  if (any_) {
    lookup_.reset();
    const Result<bool> row = lookup_.bind(1, number).step();
    if (row && row.value()) return sqlite::valid_text(lookup_.text(0), mended_);
  }
  ++missing_;
  return {};
}

StringId NsysStrings::intern(std::int64_t number, NsysNameForm form) {
  std::vector<StringId>& known = known_[static_cast<std::size_t>(form)];
  const auto place = static_cast<std::uint64_t>(number);
  if (place < known.size() && known[place] != 0) return known[place];
  const StringId id = writer_.intern(name_in_form(text(number), form));
  if (place >= kMostRemembered) return id;
  if (place >= known.size()) known.resize(std::max<std::size_t>(place + 1, known.size() + known.size() / 2));
  known[place] = id;
  return id;
}

}  // namespace accelscope::capture::sources::nsys
