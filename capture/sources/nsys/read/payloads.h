// What programs attach to their NVTX ranges, as text: "Message size [bytes]=4096, Peer rank=1" of bytes whose layout
// the program has described (NCCL's are such). Layouts and words come from an export, or one by one from a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/sources/sqlite/foreign_database.h"
#include "core/base/bytes.h"

namespace accelscope::capture::sources::nsys {

class NsysPayloads {
 public:
  using LayoutKey = std::pair<std::uint64_t, std::uint64_t>;  // domain and layout
  struct Field {
    std::string name;
    std::int64_t type = 0;
    std::int64_t flags = 0;
    std::size_t offset = 0;
    std::int64_t detail = 0;  // length of an array
  };
  struct Payload {
    std::string text;
    std::optional<std::int64_t> message_bytes;  // what it says of a message's size
  };

  void read(const sqlite::ForeignDatabase& file);
  // Fields behind the first that say no offset lie where a compiler puts them; `alignment`: at most, 0: any.
  void add_layout(const LayoutKey& key, std::vector<Field> fields, std::size_t alignment);
  // `bytes`: of the numbers that stand for words.
  void add_words(const LayoutKey& key, std::size_t bytes, std::map<std::int64_t, std::string> words);

  // Nothing: of no layout that is described, or too short.
  [[nodiscard]] std::optional<Payload> decoded(const LayoutKey& key, ByteView payload) const;
  // Behind a header of 32 bytes (domain, layout, size), as nsys of 2025 and later exports them.
  [[nodiscard]] std::optional<Payload> decoded(ByteView data) const;

 private:
  struct Words {
    std::size_t bytes = 4;
    std::map<std::int64_t, std::string> words;
  };
  enum class FieldShape : std::uint8_t { unknown, character, integer, natural, real };
  struct FieldType;
  [[nodiscard]] FieldType type_of(const Field& field, std::uint64_t domain) const;
  [[nodiscard]] bool append_value(const Field& field, std::uint64_t domain, ByteView payload, Payload& into) const;

  std::map<LayoutKey, std::vector<Field>> layouts_;
  std::map<LayoutKey, Words> words_;
};

}  // namespace accelscope::capture::sources::nsys
