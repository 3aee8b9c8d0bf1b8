#include "capture/kinds/itt/openmp_names.h"

#include <fmt/format.h>

#include <charconv>

namespace accelscope::capture::kinds::itt {
namespace {

constexpr std::string_view kUnknown = "unknown";

// What lies before the separator; the text goes on behind it.
[[nodiscard]] std::string_view cut_to(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

[[nodiscard]] std::uint32_t number_of(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void set_place(OpenMpName& name, std::string_view file, std::string_view line) {
  if (file == kUnknown || file.empty() || number_of(line) == 0) return;
  name.file = file;
  name.line = number_of(line);
}

[[nodiscard]] std::string in_function(std::string_view function) {
  return function.empty() || function == kUnknown ? "" : fmt::format(" in {}", function);
}

[[nodiscard]] OpenMpName parse_region(std::string_view function, std::string_view rest) {
  OpenMpName region;
  std::string_view what = cut_to(rest, '@');
  const std::string_view kind = cut_to(what, ':');
  const std::uint32_t threads = number_of(what);
  region.name = fmt::format("omp {}{}", kind, in_function(function));
  if (threads > 0) region.name += fmt::format(", {} threads", threads);
  // A file's own name may hold ':'; the numbers stand at the end.
  const std::size_t slash = rest.rfind('/');
  const std::size_t colon = rest.find(':', slash == std::string_view::npos ? 0 : slash);
  if (colon == std::string_view::npos) return region;
  std::string_view lines = rest.substr(colon + 1);
  set_place(region, rest.substr(0, colon), cut_to(lines, ':'));
  return region;
}

}  // namespace

std::optional<OpenMpName> parse_openmp_name(std::string_view text) {
  constexpr std::string_view kRegion = "$omp$";
  if (const std::size_t at = text.find(kRegion); at != std::string_view::npos) {
    return parse_region(text.substr(0, at), text.substr(at + kRegion.size()));
  }
  if (!text.starts_with("OMP ")) return std::nullopt;
  const std::size_t at = text.find(" ;");
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + 2);
  const std::string_view file = cut_to(rest, ';'), function = cut_to(rest, ';'), line = cut_to(rest, ';');
  OpenMpName object;
  object.name = std::string(text.substr(0, at)) + in_function(function);
  set_place(object, file, line);
  return object;
}

}  // namespace accelscope::capture::kinds::itt
