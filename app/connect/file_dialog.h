// The program's own file dialog, for opening and for saving: places, a list that narrows while one types, keys for
// everything. Folders are read by a worker, so a slow disk stalls nothing.
#pragma once

#include "app/system/system_files.h"
#include "core/base/worker_pool.h"
#include "render/widgets/table.h"

namespace accelscope::app::connect {

class FileDialog {
 public:
  enum class Purpose : std::uint8_t {
    open,
    save,
    folder,
    export_text,
    import_text
  };  // save: of a session, whose suffix is added
  using Chosen = std::function<void(const std::string& path)>;

  explicit FileDialog(WorkerPool& pool) : pool_(pool) {}

  // Shown from the next frame on. `start` is a folder, or for saving the suggested file.
  void show(Purpose purpose, const std::string& start, std::vector<system::NamedPlace> places, Chosen chosen);
  // For a folder alone: lists folders, and answers with the one that is entered.
  void show_folders(std::string title, const std::string& start, std::vector<system::NamedPlace> places, Chosen chosen);
  // Any file, whatever its name.
  void show_files(std::string title, const std::string& start, std::vector<system::NamedPlace> places, Chosen chosen);
  void draw(render::Ui& ui);
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  // A folder that is still read when the dialog is closed concerns nobody any more.
  [[nodiscard]] bool loading() const noexcept { return open_ && task_.valid(); }

 private:
  [[nodiscard]] bool saves() const noexcept { return purpose_ == Purpose::save || purpose_ == Purpose::export_text; }
  void go_to(const std::string& folder);
  void choose(const std::string& path);
  void take_listing();
  void draw_places(render::Ui& ui, render::Rect area);
  void draw_list(render::Ui& ui, render::Rect area);
  [[nodiscard]] std::string typed_target() const;
  [[nodiscard]] std::vector<std::size_t> shown_entries() const;

  WorkerPool& pool_;
  bool open_ = false, must_open_ = false, focus_now_ = false, all_files_ = false;
  Purpose purpose_ = Purpose::open;
  Chosen chosen_;
  std::vector<system::NamedPlace> places_;
  std::string title_, folder_, typed_, problem_;
  std::optional<std::string> overwrite_;  // the existing file that must be agreed to
  system::FileListing listing_;
  Task<Result<system::FileListing>> task_;
  render::TableState table_;
};

}  // namespace accelscope::app::connect
