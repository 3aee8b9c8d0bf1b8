#include "capture/sources/neuron/read/recognition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "capture/sources/neuron/read/row_binding.h"
#include "capture/sources/neuron/read/table_rules.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::neuron {
namespace {

using Words = std::set<std::string, std::less<>>;
using Quantity = UnitFacts::Quantity;

// Words that stand for one another; the first is what the others become.
constexpr std::string_view kSameWords[] = {
    "start begin began started",
    "end finish finished ended stop stopped",
    "time timestamp ts when",
    "duration length elapsed dur span took",
    "index idx number num no",
    "byte size bytes",
    "source src from",
    "target dest destination dst to",
    "use util utilization utilisation usage fullness used",
    "percent percentage pct share fraction",
    "rate throughput bandwidth bps",
    "average avg mean",
    "semaphore sem",
    "predecessor in input before former",
    "successor out output after latter",
    "id identifier ident uid",
    "core pcore physical neuroncore nc",
    "instruction instr inst",
    "operation op",
    "opcode mnemonic",
    "write written writes writing",
    "read reads reading",
    "trigger triggered triggers",
    "execute executed execution run ran",
    "transfer transferred moved move",
    "wait waited waiting stall stalled",
    "type kind",
    "name called",
    "track lane row",
    "dma descriptor",
    "allocation allocated alloc",
};

[[nodiscard]] std::string same_word(std::string word) {
  if (word.size() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us")) word.pop_back();
  for (const std::string_view same : kSameWords) {
    const std::string padded = fmt::format(" {} ", same);
    if (padded.find(fmt::format(" {} ", word)) != std::string::npos) return std::string(same.substr(0, same.find(' ')));
  }
  if (word.size() > 5 && word.ends_with("ed")) word.resize(word.size() - 2);
  if (word.size() > 6 && word.ends_with("ing")) word.resize(word.size() - 3);
  return word;
}

// "partition_32_util_percent" and "Partition32Use" have the same ones. Units at the end of a name are none.
[[nodiscard]] Words words_of(std::string_view text) {
  constexpr std::string_view kEmpty =
      " the a an of this that which is was are be or and for by on at it its as with ns us ms s ";
  Words words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty() && kEmpty.find(fmt::format(" {} ", word)) == std::string_view::npos)
      words.insert(same_word(word));
    word.clear();
  };
  char before = ' ';
  for (const char c : text) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    const bool begins = is_letter && std::isupper(static_cast<unsigned char>(c)) != 0 &&
                        std::islower(static_cast<unsigned char>(before)) != 0;
    if (begins || (!is_letter && !is_digit(c)) || (is_digit(c) && !is_digit(before)) ||
        (is_letter && is_digit(before))) {
      end_word();
    }
    if (is_letter || is_digit(c)) word += lower_case(c);
    before = c;
  }
  end_word();
  return words;
}

// Words of start, end and duration, which have no column and so no description of their own.
[[nodiscard]] std::string_view meaning_of_time(std::string_view field) noexcept {
  if (field == "start_ts" || field == "timestamp") return "timestamp when it started: the begin";
  if (field == "end_ts") return "timestamp when it finished: the end";
  if (field == "duration_ns" || field == "duration") return "how long it took: the duration of the execution";
  return {};
}

// What is known of one column, as words.
struct Meaning {
  Words name;         // of its name in 7.4.0 and of that of the rules
  Words description;  // these too
};

[[nodiscard]] Meaning meaning_of(const FieldFacts& field, std::string_view rules_name) {
  Meaning meaning{words_of(field.name), words_of(field.description)};
  const Words other = words_of(rules_name);
  if (other.size() < meaning.name.size()) meaning.description.insert(other.begin(), other.end());
  meaning.description.merge(words_of(meaning_of_time(field.name)));
  meaning.description.insert(meaning.name.begin(), meaning.name.end());
  return meaning;
}

enum class Spelling : std::uint8_t { start, end, duration };
[[nodiscard]] std::optional<Spelling> time_spelling(std::string_view field) noexcept {
  if (field == "start_ts" || field == "timestamp" || field == "start") return Spelling::start;
  if (field == "end_ts" || field == "end") return Spelling::end;
  if (field == "duration_ns" || field == "duration") return Spelling::duration;
  return std::nullopt;
}

// Pairs the columns of a table in files with those of a known one.
class Pairing {
 public:
  Pairing(const std::vector<FieldFacts>& fields, const TableFacts& known);

  struct Pair {
    std::size_t known = SIZE_MAX;
    double score = 0;  // 1: by name
    std::string reason;
  };
  [[nodiscard]] const std::vector<Pair>& pairs() const noexcept { return pairs_; }  // by column of the file
  [[nodiscard]] bool has(std::size_t known) const noexcept { return taken_[known]; }
  [[nodiscard]] double score_sum() const noexcept;

 private:
  struct Score {
    double sum = 0;
    double name = 0;
    double description = 0;
    bool unit = false;
    bool values = false;
    int neighbours = 0;
  };
  void pair_names();
  void pair_meanings();
  [[nodiscard]] Score score_of(std::size_t field, std::size_t known) const;
  [[nodiscard]] double weight(std::string_view word) const;
  [[nodiscard]] double weight(const Words& words) const;
  [[nodiscard]] double common(const Words& a, const Words& b) const;
  [[nodiscard]] std::string reason_of(std::size_t field, std::size_t known, const Score& score) const;

  const std::vector<FieldFacts>& fields_;
  const TableFacts& known_;
  std::vector<Meaning> meanings_;                         // of the known ones
  std::vector<std::string> rules_names_;                  // likewise
  std::vector<std::pair<Words, Words>> words_;            // of names and descriptions of the file's
  std::map<std::string, std::size_t, std::less<>> uses_;  // how many known ones speak of a word
  std::vector<Pair> pairs_;
  std::vector<bool> taken_;  // by known column
};

Pairing::Pairing(const std::vector<FieldFacts>& fields, const TableFacts& known)
    : fields_(fields), known_(known), pairs_(fields.size()), taken_(known.fields.size()) {
  const TableRule* rule = find_table_rule(known.name);
  const std::optional<Schema> schema = rule == nullptr ? std::nullopt : std::optional(neuron_schema(rule->table));
  for (const FieldFacts& field : known.fields) {
    rules_names_.emplace_back(schema ? schema_column_of(*schema, field.name) : field.name);
  }
  pair_names();
  const bool all = std::all_of(pairs_.begin(), pairs_.end(), [](const Pair& pair) { return pair.score > 0; }) ||
                   std::all_of(taken_.begin(), taken_.end(), [](bool taken) { return taken; });
  constexpr std::size_t kMostFields = 500;  // a damaged file may have any number; each is held against each
  if (all || fields.size() > kMostFields) return;
  for (std::size_t i = 0; i < known.fields.size(); ++i) {
    meanings_.push_back(meaning_of(known.fields[i], rules_names_[i]));
    for (const std::string& word : meanings_.back().description) ++uses_[word];
  }
  for (const FieldFacts& field : fields) words_.emplace_back(words_of(field.name), words_of(field.description));
  pair_meanings();
}

double Pairing::score_sum() const noexcept {
  double sum = 0;
  for (const Pair& pair : pairs_) sum += pair.score;
  return sum;
}

void Pairing::pair_names() {
  const auto pair = [&](const auto& same) {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      for (std::size_t k = 0; k < known_.fields.size() && pairs_[i].score == 0; ++k) {
        if (taken_[k] || !same(i, k)) continue;
        pairs_[i] = {k, 1, {}};
        taken_[k] = true;
      }
    }
  };
  pair([&](std::size_t i, std::size_t k) { return fields_[i].name == known_.fields[k].name; });
  pair([&](std::size_t i, std::size_t k) { return fields_[i].name == rules_names_[k]; });
  pair([&](std::size_t i, std::size_t k) {
    const auto spelling = time_spelling(fields_[i].name);
    return spelling && spelling == time_spelling(known_.fields[k].name) && fields_[i].unit.empty();
  });
}

double Pairing::weight(std::string_view word) const {
  const auto found = uses_.find(word);
  return found == uses_.end() ? 1.0 : 1.0 / static_cast<double>(found->second);
}

double Pairing::weight(const Words& words) const {
  double sum = 0;
  for (const std::string& word : words) sum += weight(word);
  return sum;
}

double Pairing::common(const Words& a, const Words& b) const {
  double sum = 0;
  for (const std::string& word : a) sum += b.contains(word) ? weight(word) : 0;
  return sum;
}

Pairing::Score Pairing::score_of(std::size_t field, std::size_t known) const {
  const FieldFacts& a = fields_[field];
  const FieldFacts& b = known_.fields[known];
  if (a.is_itself) return {};
  const Meaning& meaning = meanings_[known];
  const auto& [name, description] = words_[field];
  Score score;
  const Quantity quantity = unit_facts(a.unit).quantity;
  const Quantity known_quantity = unit_facts(b.unit).quantity;
  if (quantity != Quantity::none && known_quantity != Quantity::none) {
    if (quantity != known_quantity) return {};
    score.unit = true;
  }
  const bool is_list = a.kind == ValueKind::nested && b.kind != ValueKind::nested;
  const bool is_number = b.kind == ValueKind::integer || b.kind == ValueKind::real;
  if (is_list && is_number) return {};
  if (const auto spelling = time_spelling(b.name); spelling && b.name != "timestamp") {
    constexpr std::string_view kRoles[] = {"start", "end", "duration"};
    const std::string_view role = kRoles[static_cast<std::size_t>(*spelling)];
    if (!name.contains(role) && !description.contains(role)) return {};
  }
  score.name = 2 * common(name, meaning.name) / std::max(weight(name) + weight(meaning.name), 1e-9);
  if (!description.empty()) {
    double telling = 0;
    for (const std::string& word : description) telling += uses_.contains(word) ? weight(word) : 0;
    const double says = telling > 0 ? common(description, meaning.description) / telling : 0;
    const double covers = common(meaning.name, description) / std::max(weight(meaning.name), 1e-9);
    score.description = 0.5 * says + 0.5 * covers;
  }
  const auto is_part = [](const Words& part, const Words& of) {
    return !part.empty() && std::includes(of.begin(), of.end(), part.begin(), part.end());
  };
  const bool contains = is_part(meaning.name, name);
  const auto is_pair = [&](std::size_t i, std::size_t k) { return i < pairs_.size() && pairs_[i].known == k; };
  score.neighbours =
      (field > 0 && known > 0 && is_pair(field - 1, known - 1) ? 1 : 0) + (is_pair(field + 1, known + 1) ? 1 : 0);
  score.values = !a.values.empty() && a.values == b.values;
  const bool numbers_differ = (a.kind == ValueKind::text) != (b.kind == ValueKind::text) && a.values.empty();
  score.sum = (description.empty() ? 0.6 : 0.35) * score.name + 0.35 * score.description + (score.unit ? 0.15 : 0) +
              (contains ? 0.15 : 0) + (score.neighbours == 2 ? 0.2 : score.neighbours * 0.06) +
              (score.values ? 0.3 : 0) - (numbers_differ ? 0.12 : 0);
  return score;
}

// The surest pair first, for it may be the neighbour of another; none where another is nearly as likely.
void Pairing::pair_meanings() {
  constexpr double kLeast = 0.4;
  constexpr double kMargin = 0.06;
  while (true) {
    Score best;
    std::size_t field = 0;
    std::size_t known = 0;
    std::vector<std::vector<double>> scores(fields_.size(), std::vector<double>(known_.fields.size()));
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      for (std::size_t k = 0; k < known_.fields.size() && pairs_[i].score == 0; ++k) {
        if (taken_[k]) continue;
        const Score score = score_of(i, k);
        scores[i][k] = score.sum;
        if (score.sum <= best.sum) continue;
        best = score;
        field = i;
        known = k;
      }
    }
    if (best.sum < kLeast) return;
    double second = 0;
    for (std::size_t k = 0; k < known_.fields.size(); ++k) second = std::max(second, k == known ? 0 : scores[field][k]);
    for (std::size_t i = 0; i < fields_.size(); ++i) second = std::max(second, i == field ? 0 : scores[i][known]);
    const bool is_clear = best.sum - second >= kMargin;
    pairs_[field] = {is_clear ? known : SIZE_MAX, is_clear ? std::min(best.sum, 0.95) : 1e-9,
                     is_clear ? reason_of(field, known, best) : std::string{}};
    if (is_clear) taken_[known] = true;
  }
}

std::string Pairing::reason_of(std::size_t field, std::size_t known, const Score& score) const {
  std::vector<std::string> reasons;
  if (score.name > 0) reasons.emplace_back("its name");
  if (score.description > 0) reasons.emplace_back("its description");
  if (score.unit) reasons.push_back(fmt::format("its unit ({})", fields_[field].unit));
  if (score.values) reasons.emplace_back("its values");
  if (score.neighbours > 0) {
    const bool left = known > 0 && field > 0 && pairs_[field - 1].known == known - 1;
    reasons.push_back(fmt::format("its neighbour {}", known_.fields[left ? known - 1 : known + 1].name));
  }
  return "by " + joined(reasons);
}

// What makes events of a known table's rows: any one of the columns of each need.
struct Need {
  std::string_view what;
  std::vector<std::string_view> any_of;
};

[[nodiscard]] std::vector<Need> needs_of(const TableFacts& known) {
  const TableRule* rule = find_table_rule(known.name);
  if (rule == nullptr) return {};
  const Schema schema = neuron_schema(rule->table);
  std::vector<Need> needs;
  Need begin{"begin", {}};
  Need extent{"end or duration", {}};
  for (const FieldFacts& field : known.fields) {
    const auto spelling = time_spelling(field.name);
    if (spelling) {
      (*spelling == Spelling::start ? begin : extent).any_of.push_back(field.name);
      continue;
    }
    const std::string_view column = schema_column_of(schema, field.name);
    const auto place = schema.find(column);
    const bool is_key = field.required && rule->key.is_any() && kCapturedKeys[rule->key.place()] == column;
    const bool is_engine = field.name == "engine" || field.name == "engine_name";
    if (is_engine) {
      needs.push_back({"engine", {field.name}});
    } else if (is_key || (place && schema.columns[*place].required)) {
      needs.push_back({place && schema.columns[*place].role == Role::value ? "value" : "identity", {field.name}});
    }
  }
  const bool timed = schema.kind != EventKind::table && schema.kind != EventKind::flow;
  if (timed) needs.insert(needs.begin(), std::move(begin));
  if (schema.kind == EventKind::slice || schema.kind == EventKind::memory) {
    needs.insert(needs.begin() + 1, std::move(extent));
  }
  return needs;
}

[[nodiscard]] bool meets(const Need& need, const TableFacts& known, const Pairing& pairing) {
  return need.any_of.empty() || std::any_of(need.any_of.begin(), need.any_of.end(), [&](std::string_view name) {
           return pairing.has(static_cast<std::size_t>(known.find(name) - known.fields.data()));
         });
}

[[nodiscard]] std::string need_text(const Need& need) {
  return fmt::format("{} ({})", need.what, fmt::join(need.any_of, ", "));
}

// How alike a table of the files and a known one are.
struct Likeness {
  double score = 0;
  std::string reason;
};

[[nodiscard]] Likeness likeness_of(const TableReading& table, const std::vector<FieldFacts>& fields,
                                   const TableFacts& known) {
  constexpr double kLeastFit = 0.45;
  if (fields.empty()) return {};
  const Pairing pairing(fields, known);
  const std::vector<Need> needs = needs_of(known);
  if (!std::all_of(needs.begin(), needs.end(), [&](const Need& need) { return meets(need, known, pairing); }))
    return {};
  // Columns of its own say more against it than columns that it lacks: optional ones may be missing.
  const double sum = pairing.score_sum();
  const double fit =
      0.75 * sum / static_cast<double>(fields.size()) + 0.25 * sum / static_cast<double>(known.fields.size());
  if (fit < kLeastFit) return {};
  const Words known_words = words_of(known.name);
  const Words name = words_of(table.name);
  const Words description = words_of(table.description);
  const auto share = [&](const Words& words) {
    return static_cast<double>(std::count_if(known_words.begin(), known_words.end(),
                                             [&](const std::string& word) { return words.contains(word); })) /
           static_cast<double>(known_words.size());
  };
  std::set<std::string_view> telling;
  for (const Need& need : needs) telling.insert(need.any_of.begin(), need.any_of.end());
  for (std::size_t i = 0; i < fields.size() && telling.size() < 3; ++i) {
    if (pairing.pairs()[i].known != SIZE_MAX) telling.insert(known.fields[pairing.pairs()[i].known].name);
  }
  return {fit + 0.3 * share(name) + 0.2 * share(description),
          fmt::format("its columns, {} of {}, are those: {}",
                      std::count_if(pairing.pairs().begin(), pairing.pairs().end(),
                                    [](const Pairing::Pair& pair) { return pair.known != SIZE_MAX; }),
                      fields.size(), fmt::join(telling, ", "))};
}

// The unit that the rules expect a share in: "share", "%".
[[nodiscard]] std::string share_unit(const TableFacts& known, const std::string& field) {
  const TableRule* rule = find_table_rule(known.name);
  if (rule == nullptr) return "share";
  const Schema schema = neuron_schema(rule->table);
  const auto column = schema.find(schema_column_of(schema, field));
  return column ? schema.columns[*column].unit : std::string{};
}

// The unit at the end of a name that says nothing else of it: "duration_ms".
[[nodiscard]] std::string unit_in_name(std::string_view name) {
  const std::size_t cut = name.rfind('_');
  if (cut == std::string_view::npos) return {};
  const std::string_view ending = name.substr(cut + 1);
  const bool is_unit = ending == "ns" || ending == "us" || ending == "ms" || ending == "ps";
  return is_unit ? std::string(ending) : std::string{};
}

[[nodiscard]] double factor_of(const FieldFacts& field, const TableFacts& known, const FieldFacts& as) {
  UnitFacts unit = unit_facts(field.unit);
  const UnitFacts expected = unit_facts(as.unit);
  if (expected.quantity == Quantity::share) {
    const std::string wanted = share_unit(known, as.name);
    if (wanted.empty() || (unit.quantity != Quantity::share && !field.maximum)) return 1;
    constexpr double kMostShare = 1.5;
    if (field.maximum) unit.factor = *field.maximum > kMostShare ? 0.01 : 1;
    if (!field.maximum && unit.factor != 1) return 1;  // percent without a maximum: as 7.4.0 has it
    return unit.factor / unit_facts(wanted).factor;
  }
  if (unit.quantity == Quantity::none && field.name != as.name) unit = unit_facts(unit_in_name(field.name));
  return unit.quantity == expected.quantity && expected.quantity != Quantity::none ? unit.factor / expected.factor : 1;
}

// What data rates allow is without a limit, and no share: it may be many times one.
[[nodiscard]] bool may_be_percent(const FieldFacts& field, const TableFacts& known, const FieldFacts& as) {
  const UnitFacts unit = unit_facts(field.unit);
  return unit_facts(as.unit).quantity == Quantity::share && share_unit(known, as.name) == "share" && !field.maximum &&
         (field.unit.empty() || (unit.quantity == Quantity::share && unit.factor != 1)) &&
         as.name.find("achievable") == std::string::npos;
}

void read_fields(TableReading& table, const std::vector<FieldFacts>& fields, const TableFacts* known) {
  if (known == nullptr) {
    for (std::size_t i = 0; i < fields.size(); ++i) table.fields[i].known = fields[i].name;
    return;
  }
  const Pairing pairing(fields, *known);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    FieldReading& reading = table.fields[i];
    reading.known = fields[i].record.empty() ? fields[i].name : fields[i].record + "." + fields[i].name;
    const Pairing::Pair& pair = pairing.pairs()[i];
    if (pair.known == SIZE_MAX) continue;
    const FieldFacts& as = known->fields[pair.known];
    if (!pair.reason.empty() || !fields[i].record.empty()) {
      reading.known = as.name;
      reading.reason = !pair.reason.empty() ? pair.reason : fmt::format("by its name in {}", fields[i].record);
    }
    reading.factor = factor_of(fields[i], *known, as);
    reading.may_be_percent = may_be_percent(fields[i], *known, as);
    reading.is_single = as.kind != ValueKind::nested;
    reading.is_whole = as.kind == ValueKind::integer;
    reading.is_number = reading.is_whole || as.kind == ValueKind::real;
    reading.by_place = as.kind == ValueKind::text && fields[i].kind == ValueKind::integer && !fields[i].values.empty();
  }
  for (FieldReading& reading : table.fields) {
    reading.opened = std::any_of(table.fields.begin(), table.fields.end(), [&](const FieldReading& member) {
      return !member.facts.record.empty() && member.facts.record == reading.facts.name && !member.reason.empty();
    });
  }
  for (const Need& need : needs_of(*known)) {
    if (!meets(need, *known, pairing)) table.lacks.push_back(need_text(need));
  }
  for (std::size_t k = 0; k < known->fields.size(); ++k) {
    if (!pairing.has(k)) table.gone.push_back(known->fields[k].name);
  }
}

// What the profile says, and the type that the file has.
[[nodiscard]] FieldFacts merged(const FieldFacts& in_file, const TableFacts* stated) {
  const FieldFacts* of_profile = stated == nullptr ? nullptr : stated->find(in_file.name);
  if (of_profile == nullptr) return in_file;
  FieldFacts facts = *of_profile;
  facts.record = in_file.record;
  facts.is_itself = in_file.is_itself;
  if (in_file.kind != ValueKind::unknown) facts.kind = in_file.kind;
  if (!in_file.unit.empty()) facts.unit = in_file.unit;
  return facts;
}

// "EngineInstruction" and "engine_instruction" are one word.
[[nodiscard]] std::string folded(std::string_view name) {
  std::string word = lower_case(name);
  std::erase(word, '_');
  return word;
}

[[nodiscard]] std::string snake_case(std::string_view name) {
  std::string word;
  for (const char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !word.empty()) word += '_';
    word += lower_case(c);
  }
  return word;
}

}  // namespace

bool TableReading::is_known() const noexcept { return find_table(known_schema(), known) != nullptr; }

ExportReading::ExportReading(const StatedSchema& stated, std::vector<TableFacts> in_files) {
  std::vector<std::vector<FieldFacts>> fields;
  for (TableFacts& table : in_files) {
    TableReading& reading = tables_.emplace_back();
    reading.name = table.name;
    reading.known = table.name;
    const TableFacts* of_profile = find_table(stated.tables(), table.name);
    if (of_profile != nullptr) reading.description = of_profile->description;
    std::vector<FieldFacts>& all = fields.emplace_back();
    for (const FieldFacts& field : table.fields) {
      all.push_back(merged(field, of_profile));
      FieldReading& added = reading.fields.emplace_back();
      added.facts = all.back();
      added.described = of_profile != nullptr && of_profile->find(field.name) != nullptr;
    }
  }
  // The likeliest pair of an unknown table and a known one that is not there under its name comes first.
  struct Candidate {
    std::size_t table;
    const TableFacts* known;
    Likeness likeness;
  };
  std::vector<Candidate> candidates;
  constexpr std::size_t kMostGuessed = 100;
  std::size_t unknown_tables = 0;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i].is_known() || ++unknown_tables > kMostGuessed) continue;
    for (const TableFacts& known : known_schema()) {
      if (known.name == kSchemaTable || find(known.name) != nullptr) continue;
      Likeness likeness = likeness_of(tables_[i], fields[i], known);
      if (likeness.score > 0) candidates.push_back({i, &known, std::move(likeness)});
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.likeness.score > b.likeness.score; });
  constexpr double kMargin = 0.04;
  for (const Candidate& candidate : candidates) {
    TableReading& table = tables_[candidate.table];
    if (!table.reason.empty() || find_known(candidate.known->name) != nullptr) continue;
    const bool is_clear = std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& other) {
      if (&other == &candidate || candidate.likeness.score - other.likeness.score >= kMargin) return false;
      const bool same_table = other.table == candidate.table && find_known(other.known->name) == nullptr;
      const bool same_known = other.known == candidate.known && tables_[other.table].reason.empty();
      return same_table || same_known;
    });
    if (!is_clear) continue;
    table.known = candidate.known->name;
    table.reason = candidate.likeness.reason;
  }
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    read_fields(tables_[i], fields[i], find_table(known_schema(), tables_[i].known));
  }
}

const TableReading* ExportReading::find(std::string_view table) const noexcept {
  const auto found =
      std::find_if(tables_.begin(), tables_.end(), [&](const TableReading& each) { return each.name == table; });
  return found == tables_.end() ? nullptr : &*found;
}

const TableReading* ExportReading::find_known(std::string_view table) const noexcept {
  const auto found =
      std::find_if(tables_.begin(), tables_.end(), [&](const TableReading& each) { return each.known == table; });
  return found == tables_.end() ? nullptr : &*found;
}

void ExportReading::read_as_percent(std::string_view table) {
  constexpr double kPercent = 0.01;
  for (TableReading& each : tables_) {
    if (each.name != table) continue;
    for (FieldReading& field : each.fields) {
      if (!field.may_be_percent) continue;
      field.factor = kPercent;
      field.is_percent_by_values = true;
    }
  }
}

std::string ExportReading::known_word(std::string_view table) const {
  for (const TableReading& each : tables_) {
    if (each.reason.empty() || folded(each.name) != folded(table)) continue;
    const bool is_name = std::isupper(static_cast<unsigned char>(table.front())) != 0;
    return is_name ? each.known : snake_case(each.known);
  }
  return std::string(table);
}

namespace {

// As columns name it: "ns", "B", "share" ...
[[nodiscard]] std::string column_unit(const FieldReading& field, const TableFacts* known) {
  const FieldFacts* as = known == nullptr || field.factor == 1 ? nullptr : known->find(field.known);
  const std::string& stated = as == nullptr ? field.facts.unit : as->unit;
  const UnitFacts unit = unit_facts(stated);
  constexpr std::pair<Quantity, std::string_view> kColumnUnits[] = {
      {Quantity::time, "ns"}, {Quantity::bytes, "B"}, {Quantity::rate, "B/s"}};
  for (const auto& [quantity, name] : kColumnUnits) {
    if (unit.quantity == quantity && unit.factor == 1) return std::string(name);
  }
  if (unit.quantity != Quantity::share) return stated;
  if (as != nullptr || unit.factor == 1) return "share";
  return field.facts.maximum && *field.facts.maximum > 1 ? "%" : "";  // percent that may be shares of one
}

}  // namespace

std::vector<Column> described_columns(const TableReading& table) {
  std::vector<Column> columns;
  const TableFacts* known = find_table(known_schema(), table.known);
  for (const FieldReading& field : table.fields) {
    if (!field.described || !field.facts.record.empty()) continue;
    const FieldFacts& facts = field.facts;
    Column column{.name = field.known,
                  .unit = column_unit(field, known),
                  .group = "Details",
                  .title = "",
                  .explanation = facts.description};
    column.type = facts.kind == ValueKind::integer ? ColumnType::int64
                  : facts.kind == ValueKind::real  ? ColumnType::float64
                  : facts.kind == ValueKind::truth ? ColumnType::boolean
                  : facts.kind == ValueKind::text  ? ColumnType::string
                                                   : ColumnType::text;
    columns.push_back(std::move(column));
  }
  return columns;
}

}  // namespace accelscope::capture::sources::neuron
