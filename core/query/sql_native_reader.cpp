#include "core/query/sql_native_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/query/sql_native_condition.h"
#include "core/query/sql_native_scope.h"

namespace accelscope::sql {
namespace {

constexpr std::uint64_t kMaxTop = 10'000;  // rows kept for ORDER BY ... LIMIT

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What may stand in an expression beside names, with no influence on which rows there are.
constexpr std::array<std::string_view, 30> kKeywords{
    "and",    "or",   "not",  "is",      "null", "in",   "between", "like",    "glob",   "regexp",
    "escape", "case", "when", "then",    "else", "end",  "asc",     "desc",    "nulls",  "first",
    "last",   "as",   "cast", "integer", "int",  "real", "text",    "numeric", "isnull", "notnull"};
constexpr std::array<std::string_view, 30> kScalarFunctions{
    "abs",   "round",  "printf",    "format",  "coalesce", "ifnull", "nullif", "iif",    "length",  "lower",
    "upper", "substr", "substring", "replace", "trim",     "ltrim",  "rtrim",  "instr",  "typeof",  "hex",
    "quote", "min",    "max",       "sign",    "char",     "like",   "glob",   "regexp", "unicode", "cast"};

struct AggregateName {
  std::string_view name;
  AggregateKind kind;
};
constexpr std::array<AggregateName, 6> kAggregates{{{"count", AggregateKind::count},
                                                    {"sum", AggregateKind::sum},
                                                    {"total", AggregateKind::total},
                                                    {"avg", AggregateKind::average},
                                                    {"min", AggregateKind::min},
                                                    {"max", AggregateKind::max}}};

struct Item {
  std::size_t begin = 0;
  std::size_t end = 0;  // without the alias
  std::string alias;    // in lower case; empty: none
};

// A stretch of the statement and what takes its place.
struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

class QueryReader {
 public:
  QueryReader(std::string_view sql, const NativeTables& tables, std::vector<Token> tokens)
      : sql_(sql), tables_(tables), tokens_(std::move(tokens)), scope_(tokens_, tables, query_) {}

  std::optional<NativeQuery> read() {
    while (!tokens_.empty() && tokens_.back().is_mark(";")) tokens_.pop_back();
    if (!find_clauses() || !scope_.read_from(from_ + 1, clause_end(from_))) return std::nullopt;
    if (!read_items()) return std::nullopt;
    if (where_ != 0) {
      NativeConditionReader conditions(sql_, tokens_, tables_, scope_, query_);
      if (!conditions.read(where_ + 1, clause_end(where_))) return std::nullopt;
    }
    if (limit_ != 0 && !read_limit()) return std::nullopt;
    const bool aggregates = has_aggregate(1, from_) || (having_ != 0 && has_aggregate(having_, clause_end(having_))) ||
                            (order_ != 0 && has_aggregate(order_, clause_end(order_)));
    bool understood = false;
    if (group_ != 0 || aggregates || distinct_) {
      understood = read_groups(aggregates);
    } else if (having_ == 0) {
      understood = read_rows() || read_top();
    }
    if (!understood) return std::nullopt;
    if (query_.shape != NativeQuery::Shape::rows) write_rest();
    return std::move(query_);
  }

 private:
  // Where the clauses begin, by their first tokens; 0 for one that is not there.
  bool find_clauses() {
    if (tokens_.size() < 4 || !tokens_[0].is_word("select")) return false;
    std::size_t depth = 0;
    std::size_t* last = nullptr;
    for (std::size_t i = 1; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.is_mark("(")) ++depth;
      if (token.is_mark(")") && depth-- == 0) return false;
      if (token.is_word("select")) return false;
      if (depth != 0 || token.kind != TokenKind::word) continue;
      const bool by = i + 1 < tokens_.size() && tokens_[i + 1].is_word("by");
      std::size_t* place = nullptr;
      if (token.text == "from") place = &from_;
      if (token.text == "where") place = &where_;
      if (token.text == "group" && by) place = &group_;
      if (token.text == "having") place = &having_;
      if (token.text == "order" && by) place = &order_;
      if (token.text == "limit") place = &limit_;
      if (place == nullptr) continue;
      if (*place != 0 || (last != nullptr && place < last) || (last == nullptr && place != &from_)) return false;
      *place = i;
      last = place;
      starts_.push_back(i);
    }
    return depth == 0 && from_ != 0;
  }
  [[nodiscard]] std::size_t clause_end(std::size_t start) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), start);
    return next == starts_.end() ? tokens_.size() : *next;
  }

  // Ends of the parts of [begin, end) between commas that are in no brackets.
  [[nodiscard]] std::vector<std::size_t> part_ends(std::size_t begin, std::size_t end) const {
    std::vector<std::size_t> ends;
    int depth = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (tokens_[i].is_mark("(")) ++depth;
      if (tokens_[i].is_mark(")")) --depth;
      if (depth == 0 && tokens_[i].is_mark(",")) ends.push_back(i);
    }
    ends.push_back(end);
    return ends;
  }

  bool read_items() {
    std::size_t begin = 1;
    distinct_ = tokens_[begin].is_word("distinct");
    if (distinct_ || tokens_[begin].is_word("all")) ++begin;
    for (const std::size_t end : part_ends(begin, from_)) {
      if (end <= begin) return false;
      items_.push_back(read_alias(begin, end));
      begin = end + 1;
    }
    return true;
  }
  [[nodiscard]] Item read_alias(std::size_t begin, std::size_t end) const {
    if (end - begin < 2) return {begin, end, ""};
    const Token& last = tokens_[end - 1];
    const Token& before = tokens_[end - 2];
    if (!last.is_name() && last.kind != TokenKind::text) return {begin, end, ""};
    if (before.is_word("as")) return {begin, end - 2, lower_case(last.text)};
    const bool operand_ends = before.kind == TokenKind::number || before.kind == TokenKind::text ||
                              before.kind == TokenKind::quoted || before.is_mark(")") || before.is_word("end") ||
                              before.is_word("null") ||
                              (before.kind == TokenKind::word && !contains(kKeywords, before.text));
    if (!operand_ends || (last.kind == TokenKind::word && contains(kKeywords, last.text))) return {begin, end, ""};
    return {begin, end - 1, lower_case(last.text)};
  }
  [[nodiscard]] const Item* item_of_alias(const Token& token) const {
    if (!token.is_name()) return nullptr;
    const auto found = std::find_if(items_.begin(), items_.end(), [&](const Item& item) {
      return !item.alias.empty() && item.alias == lower_case(token.text);
    });
    return found == items_.end() ? nullptr : &*found;
  }

  // LIMIT a, LIMIT a OFFSET b, LIMIT b, a
  bool read_limit() {
    const std::size_t end = clause_end(limit_);
    const auto number = [&](std::size_t at, std::uint64_t& value) {
      const std::string& text = tokens_[at].text;
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && stop == text.data() + text.size() && value < (std::uint64_t{1} << 62);
    };
    const std::size_t count = end - limit_;
    if ((count != 2 && count != 4) || !number(limit_ + 1, query_.limit)) return false;
    if (count == 2) return true;
    if (!number(limit_ + 3, query_.offset)) return false;
    if (tokens_[limit_ + 2].is_mark(",")) std::swap(query_.limit, query_.offset);
    return tokens_[limit_ + 2].is_mark(",") || tokens_[limit_ + 2].is_word("offset");
  }

  [[nodiscard]] std::size_t closing(std::size_t open, std::size_t end) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < end; ++i) {
      if (tokens_[i].is_mark("(")) ++depth;
      if (tokens_[i].is_mark(")") && --depth == 0) return i;
    }
    return end;
  }
  // min and max of several values are no aggregates.
  [[nodiscard]] const AggregateName* aggregate_at(std::size_t at, std::size_t end) const {
    if (at + 2 >= end || tokens_[at].kind != TokenKind::word || !tokens_[at + 1].is_mark("(")) return nullptr;
    const auto found = std::find_if(kAggregates.begin(), kAggregates.end(),
                                    [&](const AggregateName& name) { return name.name == tokens_[at].text; });
    if (found == kAggregates.end()) return nullptr;
    return part_ends(at + 2, closing(at + 1, end)).size() > 1 ? nullptr : &*found;
  }
  [[nodiscard]] bool has_aggregate(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (aggregate_at(i, end) != nullptr) return true;
    }
    return false;
  }

  bool read_aggregate(std::size_t& at, std::size_t end) {
    const AggregateName* name = aggregate_at(at, end);
    const std::size_t close = closing(at + 1, end);
    const std::size_t first = at + 2;
    AggregateCall call{name->kind, 0};
    const bool no_argument =
        close == first ||
        (close == first + 1 && (tokens_[first].is_mark("*") || tokens_[first].kind == TokenKind::number));
    if (no_argument) {
      if (call.kind != AggregateKind::count) return false;
      call.kind = AggregateKind::rows;
    } else {
      const auto operand = scope_.operand(first, close);
      if (!operand || operand->next != close) return false;
      call.input = operand->input;
      const ValueKind kind = query_.inputs[call.input].kind;
      const bool adds =
          call.kind != AggregateKind::count && call.kind != AggregateKind::min && call.kind != AggregateKind::max;
      if (adds && (kind == ValueKind::string || kind == ValueKind::text)) return false;
      if (call.kind != AggregateKind::count && kind == ValueKind::text) return false;
    }
    const auto known = std::find(query_.aggregates.begin(), query_.aggregates.end(), call);
    const auto number = static_cast<std::size_t>(known - query_.aggregates.begin());
    if (known == query_.aggregates.end()) query_.aggregates.push_back(call);
    // The sign takes away the affinity that a column has and a call has not.
    edits_.push_back({tokens_[at].begin, tokens_[close].end, "(+a" + std::to_string(number) + ")"});
    at = close + 1;
    return true;
  }

  enum class Columns : std::uint8_t { keys_only, become_keys, any };

  // Puts the columns of the made table into an expression.
  bool rewrite(std::size_t begin, std::size_t end, Columns columns, bool aliases) {
    for (std::size_t at = begin; at < end;) {
      const Token& token = tokens_[at];
      if (token.kind == TokenKind::mark && (token.text == "." || token.text == ";")) return false;
      if (!token.is_name()) {
        ++at;
        continue;
      }
      const bool keyword = token.kind == TokenKind::word && contains(kKeywords, token.text);
      if (keyword && scope_.names_column(token)) return false;
      if (aggregate_at(at, end) != nullptr) {
        if (!read_aggregate(at, end)) return false;
      } else if (keyword) {
        ++at;
      } else if (at + 1 < end && tokens_[at + 1].is_mark("(")) {
        if (token.kind != TokenKind::word || !contains(kScalarFunctions, token.text)) return false;
        ++at;
      } else if (const auto column = scope_.column(at, end)) {
        if (!use_column(column->input, columns)) return false;
        edits_.push_back(
            {tokens_[at].begin, tokens_[column->next - 1].end, "\"k" + std::to_string(column->input) + "\""});
        at = column->next;
      } else if (aliases && item_of_alias(token) != nullptr && !scope_.names_column(token)) {
        ++at;
      } else {
        return false;
      }
    }
    return true;
  }
  bool use_column(std::size_t input, Columns columns) {
    if (columns == Columns::any) return true;
    if (std::find(query_.keys.begin(), query_.keys.end(), input) != query_.keys.end()) return true;
    if (columns == Columns::keys_only || !can_be_key(query_.inputs[input])) return false;
    query_.keys.push_back(input);
    return true;
  }
  // Groups are few: times and ids are better sorted by SQLite, which goes on in a file.
  static bool can_be_key(const Input& input) {
    if (input.kind == ValueKind::real || input.kind == ValueKind::text) return false;
    return input.of_track ||
           (input.field != EventField::id && input.field != EventField::ts_ns && input.field != EventField::end_ns);
  }

  [[nodiscard]] std::optional<std::size_t> plain_column(std::size_t begin, std::size_t end) {
    const auto column = scope_.column(begin, end);
    if (!column || column->next != end) return std::nullopt;
    return column->input;
  }
  // The column that the n-th item is, counted from one.
  [[nodiscard]] std::optional<std::size_t> column_of_position(const Token& token) {
    std::size_t position = 0;
    const auto [stop, error] = std::from_chars(token.text.data(), token.text.data() + token.text.size(), position);
    if (error != std::errc() || stop != token.text.data() + token.text.size()) return std::nullopt;
    if (position == 0 || position > items_.size()) return std::nullopt;
    return plain_column(items_[position - 1].begin, items_[position - 1].end);
  }

  bool read_keys() {
    std::size_t begin = group_ + 2;
    for (const std::size_t end : part_ends(begin, clause_end(group_))) {
      if (end <= begin) return false;
      std::optional<std::size_t> key = plain_column(begin, end);
      if (!key && end == begin + 1) {
        const Item* item = item_of_alias(tokens_[begin]);
        if (tokens_[begin].kind == TokenKind::number) key = column_of_position(tokens_[begin]);
        if (item != nullptr && !scope_.names_column(tokens_[begin])) key = plain_column(item->begin, item->end);
      }
      if (!key || !use_column(*key, Columns::become_keys)) return false;
      begin = end + 1;
    }
    return true;
  }

  bool read_groups(bool aggregates) {
    query_.shape = NativeQuery::Shape::groups;
    query_.grouped = group_ != 0 || !aggregates;
    if (!query_.grouped && having_ != 0) return false;
    if (group_ != 0 && !read_keys()) return false;
    // DISTINCT alone: the columns that the items read make the groups.
    const Columns columns = group_ != 0 || aggregates ? Columns::keys_only : Columns::become_keys;
    for (const Item& item : items_) {
      if (!rewrite(item.begin, item.end, columns, false)) return false;
    }
    if (having_ != 0) {
      edits_.push_back({tokens_[having_].begin, tokens_[having_].end, "WHERE"});
      if (!rewrite(having_ + 1, clause_end(having_), Columns::keys_only, true)) return false;
    }
    if (order_ != 0 && !rewrite_order(Columns::keys_only)) return false;
    return !query_.keys.empty() || !query_.aggregates.empty();
  }

  // ASC and DESC left out.
  [[nodiscard]] std::size_t order_term_end(std::size_t begin, std::size_t end, bool& descending) const {
    descending = tokens_[end - 1].is_word("desc");
    return end - begin > 1 && (descending || tokens_[end - 1].is_word("asc")) ? end - 1 : end;
  }
  bool rewrite_order(Columns columns) {
    std::size_t begin = order_ + 2;
    for (const std::size_t end : part_ends(begin, clause_end(order_))) {
      if (end <= begin) return false;
      bool descending = false;
      const std::size_t stop = order_term_end(begin, end, descending);
      // A term that is nothing but an alias means the item, whatever columns there are.
      const bool alias = stop == begin + 1 && item_of_alias(tokens_[begin]) != nullptr;
      if (!alias && !rewrite(begin, end, columns, true)) return false;
      begin = end + 1;
    }
    return true;
  }

  bool read_rows() {
    query_.shape = NativeQuery::Shape::rows;
    if (query_.joins_tracks) return false;
    std::vector<std::size_t> outputs;
    for (const Item& item : items_) {
      if (item.end == item.begin + 1 && tokens_[item.begin].is_mark("*")) {
        const auto all = scope_.all_columns();
        if (!all) return false;
        outputs.insert(outputs.end(), all->begin(), all->end());
      } else if (const auto column = plain_column(item.begin, item.end)) {
        outputs.push_back(*column);
      } else {
        return false;
      }
    }
    if (order_ != 0 && !ordered_by_id()) return false;
    query_.outputs = std::move(outputs);
    return true;
  }
  bool ordered_by_id() {
    return read_order() && query_.order.size() == 1 && !query_.order[0].descending &&
           query_.inputs[query_.order[0].input].field == EventField::id;
  }

  bool read_order() {
    query_.order.clear();
    std::size_t begin = order_ + 2;
    for (const std::size_t end : part_ends(begin, clause_end(order_))) {
      if (end <= begin) return false;
      OrderTerm term;
      const std::size_t stop = order_term_end(begin, end, term.descending);
      std::optional<std::size_t> input;
      const Item* item = stop == begin + 1 ? item_of_alias(tokens_[begin]) : nullptr;
      if (item != nullptr) {
        input = plain_column(item->begin, item->end);
      } else if (stop == begin + 1 && tokens_[begin].kind == TokenKind::number) {
        input = column_of_position(tokens_[begin]);
      } else {
        input = plain_column(begin, stop);
      }
      if (!input) return false;
      term.input = *input;
      query_.order.push_back(term);
      begin = end + 1;
    }
    return true;
  }

  bool read_top() {
    query_.shape = NativeQuery::Shape::top;
    if (query_.joins_tracks || order_ == 0 || limit_ == 0 || query_.offset + query_.limit > kMaxTop) return false;
    if (!read_order() || query_.order.size() > NativeQuery::kMaxOrderTerms) return false;
    // The tables give rows in the order of time as they are asked for.
    if (query_.order.size() == 1 && !query_.order[0].descending &&
        query_.inputs[query_.order[0].input].field == EventField::ts_ns)
      return false;
    for (const OrderTerm& term : query_.order) {
      const ValueKind kind = query_.inputs[term.input].kind;
      if (kind != ValueKind::integer && kind != ValueKind::real) return false;
    }
    for (const Item& item : items_) {
      if (item.end == item.begin + 1 && tokens_[item.begin].is_mark("*")) {
        if (!expand_star(tokens_[item.begin])) return false;
      } else if (!rewrite(item.begin, item.end, Columns::any, false)) {
        return false;
      }
    }
    return rewrite_order(Columns::any);
  }
  bool expand_star(const Token& star) {
    const auto all = scope_.all_columns();
    if (!all) return false;
    Edit edit{star.begin, star.end, ""};
    for (const std::size_t input : *all) edit.text += (edit.text.empty() ? " k" : ", k") + std::to_string(input);
    edits_.push_back(edit);
    return true;
  }

  // The statement over the made table.
  void write_rest() {
    const auto cut = [&](std::size_t clause, std::string text) {
      if (clause != 0) edits_.push_back({tokens_[clause].begin, tokens_[clause_end(clause) - 1].end, std::move(text)});
    };
    cut(from_, "FROM " + std::string(kMadeTable));
    cut(where_, "");
    cut(group_, "");
    std::sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      query_.sql += sql_.substr(at, edit.begin - at);
      query_.sql += edit.text;
      at = edit.end;
    }
    query_.sql += sql_.substr(at, tokens_.back().end - at);
  }

  std::string_view sql_;
  const NativeTables& tables_;
  std::vector<Token> tokens_;
  NativeQuery query_;
  NativeScope scope_;
  std::size_t from_ = 0, where_ = 0, group_ = 0, having_ = 0, order_ = 0, limit_ = 0;  // in this order
  std::vector<std::size_t> starts_;
  bool distinct_ = false;
  std::vector<Item> items_;
  std::vector<Edit> edits_;
};

}  // namespace

Constant::Constant(sqlite3_value* copied) : value_(copied, sqlite3_value_free) {}

std::string Constant::text() const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value()));
  return text == nullptr ? std::string() : std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value())));
}

std::optional<NativeQuery> read_native_query(std::string_view sql, const NativeTables& tables) {
  auto tokens = tokens_of(sql);
  if (!tokens) return std::nullopt;
  return QueryReader(sql, tables, std::move(*tokens)).read();
}

}  // namespace accelscope::sql
