#include "app/plan/configurations.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace accelscope::app::plan {

namespace {

constexpr std::string_view kConfiguration = "configuration", kLastUsed = "last used";

std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::string(text.data(), end) : "0";
}

std::string quoted(const ConfigurationName& name) {
  return "\"" + name.name + "\"" + (name.project.empty() ? "" : " of " + name.project);
}

// Where the values of keys that are plain texts or lists of texts lie.
struct PlanKeys {
  explicit PlanKeys(capture::client::CapturePlan& plan)
      : texts{{{"capture", &plan.capture_id},
               {"results-folder", &plan.results_folder},
               {"token-file", &plan.token_file},
               {"ssh-config", &plan.ssh_config_file},
               {"ssh-identity", &plan.ssh_identity_file},
               {"name", &plan.request.name},
               {"program", &plan.request.program},
               {"directory", &plan.request.directory},
               {"script", &plan.request.script}}},
        lists{{{"place", &plan.places},
               {"send", &plan.send},
               {"argument", &plan.request.arguments},
               {"environment", &plan.request.environment},
               {"result", &plan.request.results}}} {}
  std::array<std::pair<std::string_view, std::string*>, 9> texts;
  std::array<std::pair<std::string_view, std::vector<std::string>*>, 5> lists;
};

}  // namespace

persist::TextRecord plan_fields(const capture::client::CapturePlan& plan) {
  capture::client::CapturePlan copy = plan;
  const PlanKeys keys(copy);
  persist::TextRecord fields;
  const auto put = [&](std::string_view key, const std::string& value) {
    fields.push_back(std::string(key) + "=" + value);
  };
  for (const auto& [key, list] : keys.lists) {
    for (const std::string& value : *list) put(key, value);
  }
  for (const auto& [key, text] : keys.texts) {
    if (!text->empty()) put(key, *text);
  }
  if (plan.mode != capture::wire::StartMode::begin) put("mode", std::to_string(static_cast<int>(plan.mode)));
  if (plan.request.paused) put("paused", "on");
  if (plan.request.duration_seconds > 0) put("seconds", shortest(plan.request.duration_seconds));
  for (const capture::request::KindChoice& kind : plan.request.kinds) {
    put("kind", kind.name);
    for (const capture::request::OptionSetting& option : kind.options) put("option", option.name + "=" + option.value);
  }
  return fields;
}

capture::client::CapturePlan plan_from_fields(const persist::TextRecord& fields) {
  capture::client::CapturePlan plan;
  const PlanKeys keys(plan);
  for (const std::string& field : fields) {
    const std::size_t equals = field.find('=');
    if (equals == std::string::npos) continue;
    const std::string_view key = std::string_view(field).substr(0, equals);
    const std::string value = field.substr(equals + 1);
    for (const auto& [name, text] : keys.texts) {
      if (name == key) *text = value;
    }
    for (const auto& [name, list] : keys.lists) {
      if (name == key) list->push_back(value);
    }
    if (key == "mode" && value == "2") plan.mode = capture::wire::StartMode::take_up;
    if (key == "mode" && value == "3") plan.mode = capture::wire::StartMode::watch;
    if (key == "paused") plan.request.paused = value == "on";
    if (key == "seconds") {
      double seconds = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
      if (error == std::errc{} && seconds > 0) plan.request.duration_seconds = seconds;
    }
    if (key == "kind") plan.request.kinds.push_back({value, {}});
    const std::size_t inner = value.find('=');
    if (key == "option" && inner != std::string::npos && !plan.request.kinds.empty()) {
      plan.request.kinds.back().options.push_back({value.substr(0, inner), value.substr(inner + 1)});
    }
  }
  return plan;
}

Result<void> Configurations::load() {
  list_.clear();
  last_used_ = {};
  if (file_.empty()) return {};
  auto records = TRY(persist::read_records(file_));
  for (const persist::TextRecord& fields : records) {
    if (fields.size() < 3 || fields[2].empty()) continue;
    const ConfigurationName name{fields[1], fields[2]};
    if (fields[0] == kLastUsed) last_used_ = name;
    if (fields[0] == kConfiguration) put({name, plan_from_fields({fields.begin() + 3, fields.end()})});
  }
  return {};
}

const Configuration* Configurations::find(const ConfigurationName& name) const noexcept {
  const auto found = std::ranges::find_if(list_, [&](const Configuration& c) { return c.name == name; });
  return found == list_.end() ? nullptr : &*found;
}

std::vector<std::string> Configurations::projects() const {
  std::vector<std::string> projects;
  for (const Configuration& configuration : list_) {
    const std::string& project = configuration.name.project;
    if (!project.empty() && (projects.empty() || projects.back() != project)) projects.push_back(project);
  }
  return projects;
}

void Configurations::put(Configuration configuration) {
  std::erase_if(list_, [&](const Configuration& other) { return other.name == configuration.name; });
  const auto place = std::lower_bound(list_.begin(), list_.end(), configuration,
                                      [](const Configuration& a, const Configuration& b) { return a.name < b.name; });
  list_.insert(place, std::move(configuration));
}

Result<void> Configurations::save(Configuration configuration) {
  if (configuration.name.empty()) return Error{"a configuration needs a name"};
  last_used_ = configuration.name;
  put(std::move(configuration));
  return write();
}

Result<void> Configurations::rename(const ConfigurationName& from, const ConfigurationName& to) {
  if (from == to) return {};
  if (auto copied = duplicate(from, to); !copied) return copied;
  if (last_used_ == from) last_used_ = to;
  return remove(from);
}

Result<void> Configurations::duplicate(const ConfigurationName& from, const ConfigurationName& to) {
  const Configuration* found = find(from);
  if (found == nullptr) return Error{quoted(from) + ": there is no such configuration"};
  if (to.empty()) return Error{"a configuration needs a name"};
  if (find(to) != nullptr) return Error{quoted(to) + " exists already; choose another name"};
  put({to, found->plan});
  return write();
}

Result<void> Configurations::remove(const ConfigurationName& name) {
  if (std::erase_if(list_, [&](const Configuration& other) { return other.name == name; }) == 0) return {};
  if (last_used_ == name) last_used_ = {};
  return write();
}

Result<void> Configurations::use(const ConfigurationName& name) {
  if (last_used_ == name) return {};
  last_used_ = name;
  return write();
}

ConfigurationName Configurations::free_name(const ConfigurationName& like) const {
  ConfigurationName name{like.project, like.name + " copy"};
  for (int n = 2; find(name) != nullptr; ++n) name.name = like.name + " copy " + std::to_string(n);
  return name;
}

Result<void> Configurations::write() const {
  if (file_.empty()) return {};
  std::vector<persist::TextRecord> records;
  if (!last_used_.empty()) records.push_back({std::string(kLastUsed), last_used_.project, last_used_.name});
  for (const Configuration& configuration : list_) {
    persist::TextRecord record = {std::string(kConfiguration), configuration.name.project, configuration.name.name};
    const persist::TextRecord fields = plan_fields(configuration.plan);
    record.insert(record.end(), fields.begin(), fields.end());
    records.push_back(std::move(record));
  }
  return persist::write_records(file_, records);
}

}  // namespace accelscope::app::plan
