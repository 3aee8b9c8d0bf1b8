// Simple queries are answered by loops over chunks instead of SQLite's row by row scan: nobody may notice. Random
// queries of what is understood, and a little beyond it.
#include <random>

#include "tests/core/odd_session.h"

using namespace accelscope;

namespace {

class QueryMaker {
 public:
  explicit QueryMaker(std::uint32_t seed) : random_(seed) {}

  struct Query {
    std::string text;
    bool ordered = false;
  };

  Query groups() {
    choose_table();
    std::vector<std::string> keys;
    for (std::size_t i = below(4); i > 0; --i) keys.push_back(pick(keys_));
    std::vector<std::string> items;
    for (const std::string& key : keys) {
      if (below(4) != 0) items.push_back(key);
    }
    for (std::size_t i = below(4) + (items.empty() ? 1 : 0); i > 0; --i) items.push_back(aggregate_item());
    std::shuffle(items.begin(), items.end(), random_);
    Query query;
    query.text = "SELECT " + join(items, ", ") + " FROM " + table_ + where();
    if (!keys.empty()) query.text += " GROUP BY " + join(keys, ", ");
    if (!keys.empty() && below(4) == 0) query.text += " HAVING " + aggregate() + " " + pick({">", "<=", "<>"}) + " 3";
    if (below(2) == 0 || keys.empty()) return query;
    std::vector<std::string> order;
    if (below(2) == 0) order.push_back(aggregate() + pick({"", " DESC", " ASC"}));
    for (const std::string& key : keys) order.push_back(key + pick({"", " DESC"}));
    query.text += " ORDER BY " + join(order, ", ");
    query.ordered = true;
    if (below(2) == 0) query.text += " LIMIT " + std::to_string(below(12));
    if (query.text.find("LIMIT") != std::string::npos && below(3) == 0) query.text += " OFFSET 2";
    return query;
  }

  Query distinct() {
    choose_table();
    std::vector<std::string> items;
    for (std::size_t i = below(3) + 1; i > 0; --i) items.push_back(pick(keys_));
    return {"SELECT DISTINCT " + join(items, ", ") + " FROM " + table_ + where(), false};
  }

  Query rows() {
    choose_table();
    std::vector<std::string> items;
    for (std::size_t i = below(4) + 1; i > 0; --i) items.push_back(pick(columns_));
    if (below(5) == 0) items = {"*"};
    Query query{"SELECT " + join(items, ", ") + " FROM " + table_ + where(), true};
    if (below(3) == 0) query.text += " LIMIT " + std::to_string(below(50));
    if (query.text.find("LIMIT") != std::string::npos && below(3) == 0)
      query.text += " OFFSET " + std::to_string(below(20));
    return query;
  }

  Query top() {
    choose_table();
    std::vector<std::string> items;
    for (std::size_t i = below(4) + 1; i > 0; --i) items.push_back(pick(columns_));
    if (below(4) == 0) items.push_back("dur_ns / 1e3 AS us");
    if (below(4) == 0) items = {"*"};
    std::vector<std::string> order;
    for (std::size_t i = below(2) + 1; i > 0; --i) order.push_back(pick(numbers_) + pick({"", " DESC", " ASC"}));
    return {"SELECT " + join(items, ", ") + " FROM " + table_ + where() + " ORDER BY " + join(order, ", ") + " LIMIT " +
                std::to_string(below(40)) + pick({"", " OFFSET 7"}),
            true};
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::string pick(const std::vector<std::string>& from) { return from[below(from.size())]; }
  static std::string join(const std::vector<std::string>& parts, const std::string& between) {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
    return text;
  }

  void choose_table() {
    table_ = pick({"slice", "op", "counter", "plain", "slice AS s"});
    keys_ = {"track_id"};
    columns_ = {"track_id", "ts_ns"};
    numbers_ = {"track_id", "ts_ns"};
    if (table_ == "counter") {
      columns_.insert(columns_.end(), {"value", "id"});
      numbers_.insert(numbers_.end(), {"value", "id"});
      keys_.push_back("value");
      return;
    }
    columns_.insert(columns_.end(), {"id", "lane", "dur_ns", "name", "end_ns"});
    numbers_.insert(numbers_.end(), {"lane", "dur_ns", "dur_ns", "end_ns", "id"});
    keys_.insert(keys_.end(), {"lane", "name", "name", "dur_ns"});
    if (table_ == "op") {
      columns_.insert(columns_.end(), {"size", "key", "rate", "kind", "note", "flag", "category", "opcode"});
      numbers_.insert(numbers_.end(), {"size", "rate", "flag"});
      keys_.insert(keys_.end(), {"size", "key", "kind", "flag", "opcode", "category"});
    } else if (table_ != "plain") {
      columns_.insert(columns_.end(), {"category", "schema"});
      keys_.insert(keys_.end(), {"category", "schema"});
    }
  }

  std::string aggregate() {
    const std::string column = pick(columns_);
    switch (below(8)) {
      case 0:
        return "count(*)";
      case 1:
        return "count(" + column + ")";
      case 2:
        return "sum(" + pick(numbers_) + ")";
      case 3:
        return "avg(" + pick(numbers_) + ")";
      case 4:
        return "total(" + pick(numbers_) + ")";
      case 5:
        return "min(" + column + ")";
      case 6:
        return "max(" + column + ")";
      default:
        return table_ == "op" ? pick({"sum(key)", "min(key)", "max(key)", "sum(rate)", "avg(size)"}) : "sum(track_id)";
    }
  }
  std::string aggregate_item() {
    switch (below(6)) {
      case 0:
        return aggregate() + " / 1e3 AS scaled" + std::to_string(below(1000));
      case 1:
        return "round(" + aggregate() + ", 2)";
      case 2:
        return aggregate() + " + " + aggregate();
      default:
        return aggregate();
    }
  }

  std::string condition() {
    const std::string number = std::to_string(below(60));
    std::vector<std::string> some{"ts_ns >= " + std::to_string(below(20000)),
                                  "ts_ns < " + std::to_string(below(20000)),
                                  std::to_string(below(3000)) + " <= ts_ns",
                                  "ts_ns BETWEEN 500.5 AND " + std::to_string(below(9000)),
                                  "track_id = " + number,
                                  "track_id IN (0, 2, 16384)",
                                  "track_id <> 1",
                                  "(ts_ns > 100 AND ts_ns < 1e4)"};
    if (table_ != "counter") {
      some.insert(some.end(), {"dur_ns > " + number,
                               "dur_ns <> 0",
                               "dur_ns = 17",
                               "dur_ns * 2 > 20",
                               "ts_ns + dur_ns > " + std::to_string(below(20000)),
                               "end_ns <= " + std::to_string(below(20000)),
                               "dur_ns NOT IN (1, 2, 3)",
                               "dur_ns IS NOT NULL",
                               "name = 'matmul_4'",
                               "name <> 'matmul_4'",
                               "name <> ''",
                               "name GLOB '*matmul*'",
                               "name NOT LIKE 'COPY%'",
                               "name LIKE '%_1%'",
                               "name REGEXP '[37]$'",
                               "regexp('^mat', name)",
                               "name IN ('Copy.3', 'matmul_1', 'none')",
                               "lane = 0",
                               "name > 'D'",
                               "id >= " + std::to_string(std::uint64_t{1} << 40)});
    }
    if (table_ == "op") {
      some.insert(some.end(), {"size > 5",
                               "size <= -20.5",
                               "size IS NULL",
                               "size NOT NULL",
                               "size = 7",
                               "key > 4",
                               "key <= 3",
                               "key <> 2",
                               "key >= -1",
                               "key = '18446744073709551615'",
                               "key > 9e18",
                               "rate > 1.25",
                               "rate <= 0",
                               "rate = 2",
                               "rate IN (1, 2.5)",
                               "rate < -3",
                               "kind = 'kind_2'",
                               "kind <> 'kind_2'",
                               "kind GLOB '*[12]'",
                               "kind IS NULL",
                               "flag = 1",
                               "flag <> 1",
                               "category = 'engine'",
                               "opcode LIKE 'm%'",
                               "note LIKE '%7%'",
                               "either > 4"});
    } else if (table_ != "counter" && table_ != "plain") {
      some.insert(some.end(), {"category = 'engine'", "category LIKE 'DMA%'", "schema = 'op'", "category IS NULL"});
    } else if (table_ == "counter") {
      some.insert(some.end(), {"value > 10", "value < 0"});
    }
    return pick(some);
  }
  std::string where() {
    const std::size_t count = below(4);
    std::vector<std::string> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(condition());
    return all.empty() ? "" : " WHERE " + join(all, " AND ");
  }

  std::mt19937_64 random_;
  std::string table_;
  std::vector<std::string> keys_, columns_, numbers_;
};

}  // namespace

TEST_CASE("planned SQL: random groups give what SQLite gives row by row, to the last bit") {
  for (const auto& [seed, events] : std::vector<std::pair<std::uint32_t, int>>{{1, 600}, {2, 60}, {3, 3}, {4, 0}}) {
    OddSession session(seed, events);
    QueryMaker maker(seed + 100);
    for (int i = 0; i < 700; ++i) {
      const QueryMaker::Query query = i % 6 == 0 ? maker.distinct() : maker.groups();
      session.compare(query.text, query.ordered);
    }
    CHECK(session.sql->planned_answers() > 300);
  }
}

TEST_CASE("planned SQL: rows and the first of them by any numbers are the ones SQLite finds, in its order") {
  for (const auto& [seed, events] : std::vector<std::pair<std::uint32_t, int>>{{5, 400}, {6, 50}, {7, 0}}) {
    OddSession session(seed, events);
    QueryMaker maker(seed + 100);
    for (int i = 0; i < 600; ++i) {
      const QueryMaker::Query query = i % 2 == 0 ? maker.rows() : maker.top();
      // SQLite may look up the values of such a list one after the other: another order, as nothing asks for one.
      if (query.text.find("rate IN") != std::string::npos) continue;
      session.compare(query.text, query.ordered);
    }
    CHECK(session.sql->planned_answers() > 300);
  }
}
