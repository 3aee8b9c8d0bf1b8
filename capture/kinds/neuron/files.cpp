#include "capture/kinds/neuron/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string_view>

#include "capture/sources/input_parts.h"
#include "core/base/format.h"
#include "core/base/natural_order.h"

namespace accelscope::capture::kinds::neuron {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 1U << 20;

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> execution_of(const std::string& path) {
  constexpr std::string_view kWord = "exec_";
  const std::string stem = fs::path(path).stem().string();
  const std::size_t at = stem.rfind(kWord);
  return at == std::string::npos ? std::nullopt : whole_number(std::string_view(stem).substr(at + kWord.size()));
}

// "rank 3" of the file, or of the folder that it lies in.
std::string rank_of(const fs::path& path) {
  std::string label = sources::label_of_path(path.filename().string());
  if (label.empty()) label = sources::label_of_path(path.parent_path().filename().string());
  return label.substr(0, label.find(" run "));
}

std::string listed(const std::vector<kinds::program::FolderWatch::File>& files) {
  std::string text;
  for (std::size_t i = 0; i < files.size(); ++i) {
    text += fmt::format("\n{}. {} ({})", i + 1, files[i].path, format_bytes(static_cast<double>(files[i].bytes)));
  }
  return text;
}

Result<std::size_t> skip_header(std::ifstream& file, const std::string& path) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  constexpr std::size_t kVersionTwo = 2;  // has four bytes of length
  std::array<unsigned char, 12> head{};
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  const std::string_view begin(reinterpret_cast<const char*>(head.data()), kMagic.size());
  if (static_cast<std::size_t>(file.gcount()) < head.size() || begin != kMagic) {
    return Error{fmt::format("{}: is no .npy file; write it with numpy.save, or name it .bin if it is raw", path)};
  }
  std::size_t length = head[8] + (std::size_t{head[9]} << 8U);
  std::size_t fixed = 10;
  if (head[6] >= kVersionTwo) {
    length += (std::size_t{head[10]} << 16U) + (std::size_t{head[11]} << 24U);
    fixed = 12;
  }
  file.seekg(static_cast<std::streamoff>(fixed + length));
  return fixed + length;
}

}  // namespace

Result<std::size_t> choose_neff(const std::vector<kinds::program::FolderWatch::File>& files, const std::string& which) {
  const auto newest = [](const kinds::program::FolderWatch::File& a, const kinds::program::FolderWatch::File& b) {
    return a.written < b.written;
  };
  const auto largest = [&](const kinds::program::FolderWatch::File& a, const kinds::program::FolderWatch::File& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : newest(a, b);
  };
  const auto index_of = [&](auto found) { return static_cast<std::size_t>(found - files.begin()); };
  if (which == "largest" || which.empty()) return index_of(std::max_element(files.begin(), files.end(), largest));
  if (which == "newest") return index_of(std::max_element(files.begin(), files.end(), newest));
  if (const auto number = whole_number(which); number && *number >= 1 && *number <= files.size()) return *number - 1;
  std::vector<std::size_t> fitting;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].path.find(which) != std::string::npos) fitting.push_back(i);
  }
  if (fitting.size() == 1) return fitting.front();
  return Error{
      fmt::format("--compiled-neff: '{}' fits {} of the NEFFs that were compiled; name more of the path, a number, "
                  "largest or newest:{}",
                  which, fitting.empty() ? "none" : "several", listed(files))};
}

ChosenTraces choose_traces(const std::vector<std::string>& paths, std::optional<std::uint64_t> nth, std::size_t most) {
  std::map<std::string, std::vector<NeuronTrace>> ranks;
  for (const std::string& path : paths) {
    NeuronTrace trace{path, rank_of(fs::path(path)), execution_of(path)};
    ranks[trace.label].push_back(std::move(trace));
  }
  ChosenTraces traces;
  for (auto& [label, of_rank] : ranks) {
    const auto better = [&](const NeuronTrace& a, const NeuronTrace& b) {
      const bool a_wanted = nth && a.execution == nth;
      const bool b_wanted = nth && b.execution == nth;
      return a_wanted != b_wanted ? b_wanted : a.execution.value_or(0) < b.execution.value_or(0);
    };
    const auto best = std::max_element(of_rank.begin(), of_rank.end(), better);
    for (auto trace = of_rank.begin(); trace != of_rank.end(); ++trace) {
      if (trace == best) {
        traces.chosen.push_back(*trace);
      } else {
        traces.left.push_back(trace->path);
      }
    }
  }
  std::sort(traces.chosen.begin(), traces.chosen.end(),
            [](const NeuronTrace& a, const NeuronTrace& b) { return natural_less(a.label, b.label); });
  while (traces.chosen.size() > most) {
    traces.beyond.insert(traces.beyond.begin(), traces.chosen.back().path);
    traces.chosen.pop_back();
  }
  return traces;
}

Result<bool> is_all_zero(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: the input cannot be read; check the path and its permissions", path)};
  if (fs::path(path).extension() == ".npy") {
    if (Result<std::size_t> header = skip_header(file, path); !header) return header.error();
  }
  std::vector<char> block(kBlockBytes);
  std::uint64_t bytes = 0;
  do {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto end = block.begin() + file.gcount();
    if (std::any_of(block.begin(), end, [](char byte) { return byte != 0; })) return false;
    bytes += static_cast<std::uint64_t>(file.gcount());
  } while (file);
  if (bytes == 0) return Error{fmt::format("{}: the input holds no values; was its writer stopped early?", path)};
  return true;
}

}  // namespace accelscope::capture::kinds::neuron
