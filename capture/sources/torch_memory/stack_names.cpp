#include "capture/sources/torch_memory/stack_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace accelscope::capture::sources::torch_memory {
namespace {

// Where Python's libraries lie: frames in there tell less than the one of the program that called them.
constexpr std::string_view kLibraryFolders[] = {"site-packages/", "dist-packages/", "/lib/python"};
// Frames of C++ that every allocation goes through.
constexpr std::string_view kPlumbing[] = {"torch::unwind",
                                          "torch::CapturedTraceback",
                                          "torch::cuda::",
                                          "c10::",
                                          "at::detail::",
                                          "at::(anonymous namespace)",
                                          "at::TensorBase at::detail",
                                          "at::native::empty",
                                          "at::empty"};
constexpr std::size_t kMostFrames = 4096;
constexpr std::size_t kMostStackBytes = 64U << 10;
constexpr std::string_view kOperators = "at::_ops::";

[[nodiscard]] bool is_python(std::string_view file) noexcept {
  return file.ends_with(".py") || (file.starts_with('<') && file.ends_with('>'));
}

[[nodiscard]] bool is_library(std::string_view file) noexcept {
  return std::any_of(std::begin(kLibraryFolders), std::end(kLibraryFolders),
                     [&](std::string_view folder) { return file.find(folder) != std::string_view::npos; });
}

[[nodiscard]] bool is_plumbing(std::string_view function) noexcept {
  return std::any_of(std::begin(kPlumbing), std::end(kPlumbing),
                     [&](std::string_view begin) { return function.starts_with(begin); });
}

// "_to_copy" of "at::_ops::_to_copy::call(at::Tensor const&, ...)"; else the function without its arguments.
[[nodiscard]] std::string_view short_function(std::string_view function) noexcept {
  if (function.starts_with(kOperators)) {
    function.remove_prefix(kOperators.size());
    return function.substr(0, function.find("::"));
  }
  const std::size_t arguments = function.find('(', function.starts_with('(') ? 1 : 0);
  return arguments == 0 ? function : function.substr(0, arguments);
}

[[nodiscard]] std::string_view file_name_of(std::string_view path) noexcept {
  return path.substr(path.find_last_of("/\\") + 1);
}

}  // namespace

const StackName& StackNames::of(pickle::PickleValue frames) {
  const auto [place, is_new] = known_.try_emplace(frames.word);
  if (is_new) place->second = make(frames);
  return place->second;
}

StackNames::Frame StackNames::frame_of(pickle::PickleValue value) const {
  constexpr std::size_t kMostFields = 64;  // they are looked for one by one
  if (data_.keys(data_.shape(value)).size() > kMostFields) return {};
  return {data_.text(data_.find(value, "name")), data_.text(data_.find(value, "filename")),
          data_.to_int64(data_.find(value, "line")).value_or(0)};
}

StackName StackNames::make(pickle::PickleValue frames) {
  const auto list = data_.list(frames);
  if (list.empty()) return {};
  std::string text;
  std::size_t frames_left = kMostFrames;
  std::optional<Frame> of_program, of_library, operation, inner;
  for (const pickle::PickleValue value : list) {
    const Frame frame = frame_of(value);
    const std::size_t bytes = text.size() + frame.function.size() + frame.file.size();
    if (frames_left-- == 0 || bytes > std::min(kMostStackBytes, text_left_)) {
      ++cut_;
      break;  // what lies further out is cut
    }
    if (!text.empty()) text += '\n';
    text += frame.function;
    if (frame.line > 0) text += fmt::format(" ({}:{})", frame.file, frame.line);
    if (is_python(frame.file)) {
      std::optional<Frame>& innermost = is_library(frame.file) ? of_library : of_program;
      if (!innermost) innermost = frame;
    } else if (frame.function.starts_with(kOperators)) {
      operation = frame;  // the outermost: what was called for
    } else if (!inner && !frame.function.empty() && !is_plumbing(frame.function)) {
      inner = frame;
    }
  }
  text_left_ -= std::min(text_left_, text.size());
  StackName name;
  name.stack = writer_.intern(text);
  const std::optional<Frame> python = of_program ? of_program : of_library;
  const std::optional<Frame> told = python ? python : operation ? operation : inner;
  if (!told) {
    name.name = writer_.intern(short_function(frame_of(list.front()).function.substr(0, kMostStackBytes)));
    return name;
  }
  if (python) {
    name.name = writer_.intern(fmt::format("{} ({}:{})", told->function, file_name_of(told->file), told->line));
    name.source = writer_.intern(fmt::format("{}:{}", told->file, told->line));
  } else {
    name.name = writer_.intern(short_function(told->function));
  }
  return name;
}

}  // namespace accelscope::capture::sources::torch_memory
