// What the collector uses of NVTX, version 3, declared here: how a program's tables of functions are found, and what an
// event brings.
#pragma once

#include <cstddef>
#include <cstdint>

namespace accelscope::probe::cuda::nvtx {

using Function = void (*)();
using FunctionTable = Function**;  // of each call where its function stands; null: the program has no such call
using GetExportTable = const void* (*)(std::uint32_t table);

constexpr std::uint32_t kCallbackTable = 1;
struct CallbackTable {
  std::size_t bytes;
  int (*get_functions)(std::uint32_t module, FunctionTable* table, unsigned* count);
};
constexpr std::uint32_t kCore = 1;  // modules
constexpr std::uint32_t kCuda = 2;
constexpr std::uint32_t kCudaRuntime = 4;
constexpr std::uint32_t kDomains = 5;

constexpr std::int32_t kAscii = 1, kUnicode = 2, kRegistered = 3;  // types of a message
constexpr std::int32_t kUnsigned64 = 1, kSigned64 = 2, kDouble = 3, kUnsigned32 = 4, kSigned32 = 5, kFloat = 6;
constexpr std::int32_t kOfSchemas = static_cast<std::int32_t>(0xDFBD0009U);  // type of a payload: PayloadData
constexpr std::int32_t kArgb = 1;                                            // type of a colour

struct Attributes {
  std::uint16_t version;
  std::uint16_t size;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t payload_count;  // of PayloadData
  union {
    std::uint64_t unsigned64;
    std::int64_t signed64;
    double real64;
    std::uint32_t unsigned32;
    std::int32_t signed32;
    float real32;
    const struct PayloadData* data;
  } payload;
  std::int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    const void* registered;
  } message;
};

// Of a device, context or stream that a program names.
struct ResourceAttributes {
  std::uint16_t version;
  std::uint16_t size;
  std::int32_t type;
  const void* identifier;
  std::int32_t message_type;
  union {
    const char* ascii;
    const wchar_t* unicode;
    const void* registered;
  } message;
};
constexpr std::int32_t kThread = 0x1'0003;
constexpr std::int32_t kDriverDevice = 0x4'0001, kDriverContext = 0x4'0002, kDriverStream = 0x4'0003;
constexpr std::int32_t kRuntimeDevice = 0x5'0000, kRuntimeStream = 0x5'0001;

// The extension for payloads: how a library is given its functions' places, and what programs describe.
struct ExtensionSegment {
  std::size_t id;
  std::size_t count;
  std::intptr_t* functions;
};
struct ExtensionModule {
  std::uint16_t version;
  std::uint16_t size;
  std::uint16_t module;
  std::uint16_t compatible;
  std::size_t segment_count;
  ExtensionSegment* segments;
};
constexpr std::uint16_t kPayloads = 2;  // a module
enum PayloadFunction : std::size_t {
  kRegisterSchema,
  kRegisterWords,
  kMark,
  kPush,
  kPop,
  kStart,
  kEnd,
};

struct PayloadData {
  std::uint64_t schema;
  std::size_t bytes;  // SIZE_MAX: as the schema has it
  const void* data;
};
struct SchemaEntry {
  std::uint64_t flags;
  std::uint64_t type;
  const char* name;
  const char* description;
  std::uint64_t length;
  std::uint64_t offset;
  const void* semantics;
  const void* reserved;
};
struct SchemaAttributes {
  std::uint64_t fields;  // which of the following are there: bits, `name` being bit 1
  const char* name;
  std::uint64_t type;
  std::uint64_t flags;
  const SchemaEntry* entries;
  std::size_t entry_count;
  std::size_t static_bytes;
  std::size_t alignment;
  std::uint64_t schema;
  void* extension;
};
struct Word {
  const char* name;
  std::uint64_t value;
  std::int8_t is_flag;
};
struct WordsAttributes {
  std::uint64_t fields;
  const char* name;
  const Word* words;
  std::size_t word_count;
  std::size_t bytes;
  std::uint64_t schema;
  void* extension;
};
// Numbers that the library gives; those below are the program's own.
constexpr std::uint64_t kFirstGivenSchema = std::uint64_t{1} << 32U;

}  // namespace accelscope::probe::cuda::nvtx
