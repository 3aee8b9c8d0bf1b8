// What programs attach to their NVTX ranges, as text: "Message size [bytes]=4096, Peer rank=1" of a payload of bytes
// whose layout the export describes (NCCL's are such), else the one number or the JSON that it brings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/sources/sqlite/foreign_database.h"
#include "core/base/bytes.h"

namespace accelscope::capture::sources::nsys {

class NsysPayloads {
 public:
  void read(const sqlite::ForeignDatabase& file);

  struct Payload {
    std::string text;
    std::optional<std::int64_t> message_bytes;  // what it says of a message's size
  };
  // A header of 32 bytes (domain, layout, size; nsys of 2025 and later) and the fields behind it. Nothing: of no layout
  // that the export describes, or too short.
  [[nodiscard]] std::optional<Payload> decoded(ByteView data) const;

 private:
  struct Field {
    std::string name;
    std::int64_t type = 0;
    std::int64_t flags = 0;
    std::size_t offset = 0;
    std::int64_t detail = 0;  // length of an array
  };
  using LayoutKey = std::pair<std::uint64_t, std::uint64_t>;  // domain and layout
  [[nodiscard]] bool append_value(const Field& field, std::uint64_t domain, ByteView payload, Payload& into) const;

  std::map<LayoutKey, std::vector<Field>> layouts_;
  std::map<LayoutKey, std::map<std::int64_t, std::string>> words_;  // of numbers that stand for words
};

}  // namespace accelscope::capture::sources::nsys
