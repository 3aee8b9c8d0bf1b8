// NVTX: a program calls through tables of functions, which the library behind NVTX_INJECTION64_PATH fills in when the
// program first calls one. The declarations are ours; tests hold them against the toolkit's headers.
#include <bit>
#include <cwchar>
#include <deque>
#include <type_traits>
#include <utility>

#include "capture/probe/cuda/collector.h"
#include "capture/probe/cuda/nvtx_abi.h"

namespace accelscope::probe::cuda {
namespace {

using nvtx::Attributes;

struct Domain {
  std::uint32_t number = 0;
  std::uint32_t generation = 0;  // of the channel that knows its name
  std::string name;
};
// A text that the program has registered: its number holds while the channel is the same.
struct Registered {
  std::string text;
};

// Nesting of the calling thread's ranges, which programs are answered, by domain; further ones share the last place.
constexpr std::size_t kNestings = 16;
struct Nesting {
  int depth[kNestings];
  int range_depth[kNestings];  // of the pushed range that the user chose, + 1; 0: none is open
};
constinit thread_local Nesting t_nesting __attribute__((tls_model("initial-exec"))) = {};

std::atomic<std::uint32_t> g_last_domain{0};
std::atomic<std::uint64_t> g_last_schema{nvtx::kFirstGivenSchema};
std::atomic<std::uint64_t> g_last_range{0};

[[nodiscard]] std::string narrow(const wchar_t* wide) {
  std::string text;
  for (; wide != nullptr && *wide != 0; ++wide) {
    const auto code = std::bit_cast<std::uint32_t>(*wide);
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      text += static_cast<char>(0xE0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      text += static_cast<char>(0xF0 | (code >> 18 & 0x07));
      text += static_cast<char>(0x80 | (code >> 12 & 0x3F));
      text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return text;
}

void define(DefinitionType type, const BodyWriter& body) { Collector::instance().define(type, body); }

[[nodiscard]] Domain* domain_of(void* handle) noexcept { return static_cast<Domain*>(handle); }

[[nodiscard]] std::uint32_t number_of(void* handle) {
  Domain* domain = domain_of(handle);
  if (domain == nullptr) return 0;
  const std::uint32_t generation = Collector::instance().channel().generation();
  if (domain->generation != generation) {
    domain->generation = generation;
    BodyWriter body;
    body.number(domain->number).text(domain->name);
    define(DefinitionType::domain, body);
  }
  return domain->number;
}

[[nodiscard]] std::size_t place_of(void* handle) noexcept {
  const Domain* domain = domain_of(handle);
  return domain == nullptr ? 0 : std::min<std::size_t>(domain->number, kNestings - 1);
}

// What a range, mark or resource is called: the program's own text, or one that was made of it.
struct Message {
  const char* text = nullptr;
  std::string made;
  [[nodiscard]] const char* get() const noexcept { return text != nullptr ? text : made.c_str(); }
};

template <typename Named>
[[nodiscard]] Message message_of(const Named& attributes) {
  Message message;
  switch (attributes.message_type) {
    case nvtx::kAscii:
      message.text = attributes.message.ascii;
      break;
    case nvtx::kUnicode:
      message.made = narrow(attributes.message.unicode);
      break;
    case nvtx::kRegistered:
      if (const auto* registered = static_cast<const Registered*>(attributes.message.registered)) {
        message.text = registered->text.c_str();
      }
      break;
    default:
      break;
  }
  return message;
}

// The data of schemas as RangeRecord has them behind it. What is too long is left out.
[[nodiscard]] std::string data_of(const nvtx::PayloadData* data, std::size_t count) {
  constexpr std::size_t kMostData = 16, kMostBytes = 4096;
  std::string all;
  for (std::size_t i = 0; data != nullptr && i < std::min(count, kMostData); ++i) {
    if (data[i].data == nullptr || data[i].bytes > kMostBytes - std::min(kMostBytes, all.size())) continue;
    all += BodyWriter().number(data[i].schema).number(std::uint64_t{data[i].bytes}).bytes();
    all.append(static_cast<const char*>(data[i].data), data[i].bytes);
  }
  return all;
}

void read_payload(const Attributes& attributes, RangeRecord& to) noexcept {
  const auto set = [&to](PayloadType type, auto value) {
    to.payload_type = type;
    std::memcpy(&to.payload, &value, sizeof value);
  };
  switch (attributes.payload_type) {
    case nvtx::kUnsigned64:
      return set(PayloadType::unsigned_integer, attributes.payload.unsigned64);
    case nvtx::kSigned64:
      return set(PayloadType::integer, attributes.payload.signed64);
    case nvtx::kDouble:
      return set(PayloadType::real, attributes.payload.real64);
    case nvtx::kUnsigned32:
      return set(PayloadType::unsigned_integer, std::uint64_t{attributes.payload.unsigned32});
    case nvtx::kSigned32:
      return set(PayloadType::integer, std::int64_t{attributes.payload.signed32});
    case nvtx::kFloat:
      return set(PayloadType::real, double{attributes.payload.real32});
    default:
      return;
  }
}

// `attributes` may be of an older version, which is shorter at its end.
void put(RecordType type, void* domain, const Attributes& attributes, const Message& message, std::uint64_t range) {
  Collector& collector = Collector::instance();
  ThreadRing* ring = collector.ring();
  if (ring == nullptr) return;
  RangeRecord record{};
  record.head = {static_cast<std::uint16_t>(type), sizeof(RangeRecord) / 8, collector.names().number(message.get())};
  record.range = range;
  record.domain = number_of(domain);
  record.category = attributes.category;
  record.color = attributes.color_type == nvtx::kArgb ? attributes.color : 0;
  record.time = monotonic_ns();
  if (attributes.payload_type != nvtx::kOfSchemas) {
    read_payload(attributes, record);
    return ring->put(record);
  }
  const std::string data = data_of(attributes.payload.data, static_cast<std::size_t>(attributes.payload_count));
  record.payload_type = PayloadType::schemas;
  record.payload = data.size();
  ring->put_with_bytes(record, data);
}

// Also while nothing is collected: what was begun before ends.
void put_end(RecordType type, void* domain, std::uint64_t range) {
  ThreadRing* ring = Collector::instance().channel().ring_even_paused();
  if (ring == nullptr) return;
  const std::uint64_t now = monotonic_ns();
  ring->put(
      RangeEndRecord{{static_cast<std::uint16_t>(type), sizeof(RangeEndRecord) / 8, number_of(domain)}, now, range});
}

[[nodiscard]] Attributes plain(const char* text) noexcept {
  Attributes attributes{};
  attributes.message_type = nvtx::kAscii;
  attributes.message.ascii = text;
  return attributes;
}
[[nodiscard]] Attributes plain(const wchar_t* text) noexcept {
  Attributes attributes{};
  attributes.message_type = nvtx::kUnicode;
  attributes.message.unicode = text;
  return attributes;
}
[[nodiscard]] Attributes whole(const Attributes* given) noexcept {
  Attributes attributes{};
  if (given != nullptr) std::memcpy(&attributes, given, std::min<std::size_t>(given->size, sizeof attributes));
  return attributes;
}

void mark(void* domain, const Attributes& attributes) {
  put(RecordType::mark, domain, attributes, message_of(attributes), 0);
}

int push(void* domain, const Attributes& attributes) {
  const Message message = message_of(attributes);
  const std::size_t place = place_of(domain);
  const int depth = t_nesting.depth[place]++;
  if (t_nesting.range_depth[place] == 0 && Collector::instance().is_chosen(message.get())) {
    t_nesting.range_depth[place] = depth + 1;
    Collector::instance().enter_range();
  }
  put(RecordType::range_push, domain, attributes, message, 0);
  return depth;
}

int pop(void* domain) {
  const std::size_t place = place_of(domain);
  if (t_nesting.depth[place] == 0) return -1;
  put_end(RecordType::range_pop, domain, 0);
  const int depth = --t_nesting.depth[place];
  if (t_nesting.range_depth[place] == depth + 1) {
    t_nesting.range_depth[place] = 0;
    Collector::instance().leave_range();
  }
  return depth;
}

constexpr std::uint64_t kChosenRange = std::uint64_t{1} << 62U;  // in the number that the program is given

std::uint64_t start(void* domain, const Attributes& attributes) {
  const Message message = message_of(attributes);
  std::uint64_t range = g_last_range.fetch_add(1, std::memory_order_relaxed) + 1;
  if (Collector::instance().is_chosen(message.get())) {
    range |= kChosenRange;
    Collector::instance().enter_range();
  }
  put(RecordType::range_start, domain, attributes, message, range);
  return range;
}

void end(void* domain, std::uint64_t range) {
  put_end(RecordType::range_end, domain, range);
  if ((range & kChosenRange) != 0) Collector::instance().leave_range();
}

void name_category(void* domain, std::uint32_t category, const char* name) {
  if (name == nullptr) return;
  BodyWriter body;
  body.number(number_of(domain)).number(category).text(name);
  define(DefinitionType::category, body);
}

void name_thread(std::uint32_t thread, const char* name) {
  if (name != nullptr) Collector::instance().name_thread(thread, name);
}

void name_stream(void* stream, const char* name) {
  if (name != nullptr) Collector::instance().name_stream(stream, name);
}
void name_context(void* context, const char* name) {
  if (name != nullptr) Collector::instance().name_context(context, name);
}
void name_device(int device, const char* name) {
  if (name != nullptr) Collector::instance().name_resource(Resource::device, static_cast<std::uint32_t>(device), name);
}

void* create_resource(void*, const nvtx::ResourceAttributes* given) {
  static char resource;  // programs take no other back
  nvtx::ResourceAttributes attributes{};
  if (given == nullptr) return nullptr;
  std::memcpy(&attributes, given, std::min<std::size_t>(given->size, sizeof attributes));
  const Message message = message_of(attributes);
  const auto number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(attributes.identifier));
  switch (attributes.type) {
    case nvtx::kThread:
      name_thread(number, message.get());
      break;
    case nvtx::kDriverDevice:
    case nvtx::kRuntimeDevice:
      name_device(static_cast<int>(number), message.get());
      break;
    case nvtx::kDriverContext:
      name_context(const_cast<void*>(attributes.identifier), message.get());
      break;
    case nvtx::kDriverStream:
    case nvtx::kRuntimeStream:
      name_stream(const_cast<void*>(attributes.identifier), message.get());
      break;
    default:
      break;
  }
  return &resource;
}

// Those that a program has numbered itself keep their numbers.
[[nodiscard]] std::uint64_t schema_number(std::uint64_t given) noexcept {
  return given != 0 && given < nvtx::kFirstGivenSchema ? given : ++g_last_schema;
}

// Bits of `fields`, by the place of the field.
template <typename Described>
[[nodiscard]] bool has(const Described& described, unsigned place) noexcept {
  return (described.fields >> place & 1U) != 0;
}

std::uint64_t register_schema(void* domain, const nvtx::SchemaAttributes* schema) {
  constexpr std::size_t kMostFields = 1024;
  if (schema == nullptr || schema->entries == nullptr) return 0;
  const std::uint64_t number = schema_number(has(*schema, 8) ? schema->schema : 0);
  const std::size_t count = std::min(schema->entry_count, kMostFields);
  BodyWriter body;
  body.number(number_of(domain)).number(number).number(std::uint64_t{has(*schema, 7) ? schema->alignment : 0});
  body.text(has(*schema, 1) && schema->name != nullptr ? schema->name : "").number(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    const nvtx::SchemaEntry& entry = schema->entries[i];
    body.number(entry.flags).number(entry.type).number(entry.offset).number(entry.length);
    body.text(entry.name == nullptr ? "" : entry.name);
  }
  define(DefinitionType::payload_schema, body);
  return number;
}

std::uint64_t register_words(void* domain, const nvtx::WordsAttributes* words) {
  constexpr std::size_t kMostWords = 4096;
  if (words == nullptr || words->words == nullptr) return 0;
  const std::uint64_t number = schema_number(has(*words, 5) ? words->schema : 0);
  const std::size_t count = std::min(words->word_count, kMostWords);
  BodyWriter body;
  body.number(number_of(domain)).number(number).number(std::uint64_t{has(*words, 4) ? words->bytes : 0});
  body.number(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    body.number(words->words[i].value).text(words->words[i].name == nullptr ? "" : words->words[i].name);
  }
  define(DefinitionType::payload_words, body);
  return number;
}

void* create_domain(const char* name) {
  auto* domain = new Domain;
  domain->number = ++g_last_domain;
  if (name != nullptr) domain->name = name;
  return domain;
}

// Domains and texts are small, few, and may be used by other threads: they stay.
void* register_text(std::string text) { return new Registered{std::move(text)}; }

// The functions as programs call them.
void mark_ex(const Attributes* attributes) { mark(nullptr, whole(attributes)); }
template <typename Char>
void mark_text(const Char* text) {
  mark(nullptr, plain(text));
}
std::uint64_t start_ex(const Attributes* attributes) { return start(nullptr, whole(attributes)); }
template <typename Char>
std::uint64_t start_text(const Char* text) {
  return start(nullptr, plain(text));
}
void end_plain(std::uint64_t range) { end(nullptr, range); }
int push_ex(const Attributes* attributes) { return push(nullptr, whole(attributes)); }
template <typename Char>
int push_text(const Char* text) {
  return push(nullptr, plain(text));
}
int pop_plain() { return pop(nullptr); }
void name_category_plain(std::uint32_t category, const char* name) { name_category(nullptr, category, name); }
void name_category_wide(std::uint32_t category, const wchar_t* name) {
  name_category(nullptr, category, narrow(name).c_str());
}
void name_thread_wide(std::uint32_t thread, const wchar_t* name) { name_thread(thread, narrow(name).c_str()); }

void domain_mark(void* domain, const Attributes* attributes) { mark(domain, whole(attributes)); }
std::uint64_t domain_start(void* domain, const Attributes* attributes) { return start(domain, whole(attributes)); }
int domain_push(void* domain, const Attributes* attributes) { return push(domain, whole(attributes)); }
void domain_name_category_wide(void* domain, std::uint32_t category, const wchar_t* name) {
  name_category(domain, category, narrow(name).c_str());
}
void* domain_register(void*, const char* text) { return register_text(text == nullptr ? "" : text); }
void* domain_register_wide(void*, const wchar_t* text) { return register_text(narrow(text)); }
void* create_domain_wide(const wchar_t* name) { return create_domain(narrow(name).c_str()); }

template <typename Handle, void (*kName)(Handle, const char*)>
void name_wide(Handle handle, const wchar_t* name) {
  kName(handle, narrow(name).c_str());
}

// Events of nothing but data, which say what they are.
[[nodiscard]] Attributes of_data(const nvtx::PayloadData* data, std::size_t count) noexcept {
  Attributes attributes{};
  attributes.payload_type = nvtx::kOfSchemas;
  attributes.payload_count = static_cast<std::int32_t>(std::min<std::size_t>(count, INT32_MAX));
  attributes.payload.data = data;
  return attributes;
}
void mark_data(void* domain, const nvtx::PayloadData* data, std::size_t count) { mark(domain, of_data(data, count)); }
int push_data(void* domain, const nvtx::PayloadData* data, std::size_t count) {
  return push(domain, of_data(data, count));
}
int pop_data(void* domain, const nvtx::PayloadData*, std::size_t) { return pop(domain); }
std::uint64_t start_data(void* domain, const nvtx::PayloadData* data, std::size_t count) {
  return start(domain, of_data(data, count));
}
void end_data(void* domain, std::uint64_t range, const nvtx::PayloadData*, std::size_t) { end(domain, range); }

template <typename Function>
[[nodiscard]] nvtx::Function any(Function* function) noexcept {
  return reinterpret_cast<nvtx::Function>(function);
}

struct Binding {
  std::uint32_t module;
  std::uint32_t place;
  nvtx::Function function;
};

bool bind(nvtx::GetExportTable get_export_table) {
  const auto* callbacks = static_cast<const nvtx::CallbackTable*>(get_export_table(nvtx::kCallbackTable));
  if (callbacks == nullptr || callbacks->bytes < sizeof *callbacks || callbacks->get_functions == nullptr) return false;
  const Binding bindings[] = {
      {nvtx::kCore, 1, any(&mark_ex)},
      {nvtx::kCore, 2, any(&mark_text<char>)},
      {nvtx::kCore, 3, any(&mark_text<wchar_t>)},
      {nvtx::kCore, 4, any(&start_ex)},
      {nvtx::kCore, 5, any(&start_text<char>)},
      {nvtx::kCore, 6, any(&start_text<wchar_t>)},
      {nvtx::kCore, 7, any(&end_plain)},
      {nvtx::kCore, 8, any(&push_ex)},
      {nvtx::kCore, 9, any(&push_text<char>)},
      {nvtx::kCore, 10, any(&push_text<wchar_t>)},
      {nvtx::kCore, 11, any(&pop_plain)},
      {nvtx::kCore, 12, any(&name_category_plain)},
      {nvtx::kCore, 13, any(&name_category_wide)},
      {nvtx::kCore, 14, any(&name_thread)},
      {nvtx::kCore, 15, any(&name_thread_wide)},
      {nvtx::kDomains, 1, any(&domain_mark)},
      {nvtx::kDomains, 2, any(&domain_start)},
      {nvtx::kDomains, 3, any(&end)},
      {nvtx::kDomains, 4, any(&domain_push)},
      {nvtx::kDomains, 5, any(&pop)},
      {nvtx::kDomains, 6, any(&create_resource)},
      {nvtx::kDomains, 8, any(&name_category)},
      {nvtx::kDomains, 9, any(&domain_name_category_wide)},
      {nvtx::kDomains, 10, any(&domain_register)},
      {nvtx::kDomains, 11, any(&domain_register_wide)},
      {nvtx::kDomains, 12, any(&create_domain)},
      {nvtx::kDomains, 13, any(&create_domain_wide)},
      {nvtx::kCuda, 1, any(&name_device)},
      {nvtx::kCuda, 2, any(&name_wide<int, name_device>)},
      {nvtx::kCuda, 3, any(&name_context)},
      {nvtx::kCuda, 4, any(&name_wide<void*, name_context>)},
      {nvtx::kCuda, 5, any(&name_stream)},
      {nvtx::kCuda, 6, any(&name_wide<void*, name_stream>)},
      {nvtx::kCudaRuntime, 1, any(&name_device)},
      {nvtx::kCudaRuntime, 2, any(&name_wide<int, name_device>)},
      {nvtx::kCudaRuntime, 3, any(&name_stream)},
      {nvtx::kCudaRuntime, 4, any(&name_wide<void*, name_stream>)},
  };
  for (const Binding& binding : bindings) {
    nvtx::FunctionTable table = nullptr;
    unsigned count = 0;
    if (callbacks->get_functions(binding.module, &table, &count) == 0 || table == nullptr) continue;
    if (binding.place < count && table[binding.place] != nullptr) *table[binding.place] = binding.function;
  }
  return true;
}

[[nodiscard]] bool bind_payloads(const nvtx::ExtensionModule& module) {
  if (module.module != nvtx::kPayloads || module.segment_count == 0 || module.segments == nullptr) return false;
  const nvtx::ExtensionSegment& segment = module.segments[0];
  const std::pair<std::size_t, nvtx::Function> functions[] = {
      {nvtx::kRegisterSchema, any(&register_schema)},
      {nvtx::kRegisterWords, any(&register_words)},
      {nvtx::kMark, any(&mark_data)},
      {nvtx::kPush, any(&push_data)},
      {nvtx::kPop, any(&pop_data)},
      {nvtx::kStart, any(&start_data)},
      {nvtx::kEnd, any(&end_data)},
  };
  for (const auto& [place, function] : functions) {
    if (place < segment.count) segment.functions[place] = reinterpret_cast<std::intptr_t>(function);
  }
  return true;
}

[[nodiscard]] bool is_wanted() {
  Collector& collector = Collector::instance();
  return collector.channel().attached() && collector.collects_nvtx();
}

}  // namespace
}  // namespace accelscope::probe::cuda

// A program's NVTX calls it at its first call. 0: it is called as if nobody listened.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    accelscope::probe::cuda::nvtx::GetExportTable get_export_table) {
  using namespace accelscope::probe::cuda;
  return is_wanted() && bind(get_export_table) ? 1 : 0;
}

// The same for each extension of NVTX.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    const accelscope::probe::cuda::nvtx::ExtensionModule* module) {
  using namespace accelscope::probe::cuda;
  return module != nullptr && is_wanted() && bind_payloads(*module) ? 1 : 0;
}
