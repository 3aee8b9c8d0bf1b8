#include "capture/probe/host/places.h"

#include <optional>
#include <utility>

#include "capture/probe/host/files.h"
#include "capture/request/options.h"

namespace accelscope::capture::probes {
namespace {

// A listener and the folder that its socket lies in.
struct HeldListener {
  std::shared_ptr<system::PrivateFolder> folder;
  std::unique_ptr<ProbeListener> listener;
};

struct Preparation {
  const request::CaptureRequest& request;
  std::optional<ProbeFiles> files;
  std::shared_ptr<system::PrivateFolder> folder;  // null: the user's
  std::string path;
  ProbePlaces places;
};

Result<void> prepare_folder(Preparation& all) {
  if (all.files) return {};
  Result<ProbeFiles> files = ProbeFiles::lay_down();
  if (!files) return files.error();
  all.files = std::move(files).value();
  if (all.request.program.empty() && all.request.script.empty()) {
    Result<std::string> folder = ProbeListener::user_folder();
    if (!folder) return folder.error();
    all.path = *folder;
    return {};
  }
  Result<system::PrivateFolder> folder = system::PrivateFolder::make("probes");
  if (!folder) return folder.error();
  all.folder = std::make_shared<system::PrivateFolder>(std::move(folder).value());
  all.path = all.folder->path();
  all.places.environment.push_back(std::string(probe::kFolderVariable) + "=" + all.path);
  all.places.environment.push_back("ACCELSCOPE_AGENT=" + system::own_program());
  return {};
}

Result<std::shared_ptr<ProbeListener>> prepare_kind(Preparation& all, const request::KindChoice& choice) {
  const Result<const request::CaptureKind*> kind = request::find_kind(choice.name);
  if (!kind) return kind.error();
  if ((*kind)->environment == nullptr) return std::shared_ptr<ProbeListener>();
  const Result<request::OptionReader> options = request::read_options(**kind, choice);
  if (!options) return options.error();
  if (Result<void> ready = prepare_folder(all); !ready) return ready.error();
  Result<std::vector<std::string>> settings =
      (*kind)->environment(*options, *all.files, [&all](const std::string& name) {
        // What the program has until now: from earlier kinds, from the request, from this process.
        std::vector<std::string> known = all.request.environment;
        known.insert(known.end(), all.places.environment.begin(), all.places.environment.end());
        return system::environment_value(name, known);
      });
  if (!settings) return settings.error();
  all.places.environment.insert(all.places.environment.end(), settings->begin(), settings->end());
  Result<std::unique_ptr<ProbeListener>> listener = ProbeListener::open(choice.name, all.path);
  if (!listener) return listener.error();
  const auto held = std::make_shared<HeldListener>(HeldListener{all.folder, std::move(listener).value()});
  return std::shared_ptr<ProbeListener>(held, held->listener.get());
}

}  // namespace

Result<ProbePlaces> open_probe_places(const request::CaptureRequest& request) {
  Preparation all{request, {}, {}, {}, {}};
  for (const request::KindChoice& choice : request.kinds) {
    Result<std::shared_ptr<ProbeListener>> listener = prepare_kind(all, choice);
    if (!listener) return listener.error();
    all.places.listeners.push_back(std::move(listener).value());
  }
  return std::move(all.places);
}

}  // namespace accelscope::capture::probes
