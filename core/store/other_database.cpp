#include "core/store/other_database.h"

#include <algorithm>

#include "core/database/database.h"
#include "core/store/session_check.h"
#include "core/store/store_state.h"

namespace accelscope {

std::optional<std::vector<std::string>> tables_of_other_database(const std::string& path) {
  const Result<std::unique_ptr<Database>> database = Database::open(path, way_to_open(path, OpenMode::read_only).mode);
  if (!database) return std::nullopt;
  const Result<std::int64_t> application = (*database)->integer("PRAGMA application_id");
  if (!application || *application == kSessionApplicationId) return std::nullopt;
  Result<Statement> select =
      (*database)->prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name");
  if (!select) return std::nullopt;
  std::vector<std::string> tables;
  for (;;) {
    const Result<bool> row = select->step();
    if (!row) return std::nullopt;
    if (!*row) break;
    tables.emplace_back(select->text(0));
  }
  const auto has = [&](const char* name) { return std::find(tables.begin(), tables.end(), name) != tables.end(); };
  // A session whose header is damaged still has its tables.
  if (has("chunk") && has("definition")) return std::nullopt;
  return tables;
}

}  // namespace accelscope
