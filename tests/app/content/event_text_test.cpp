#include "app/content/event_labels.h"

#include <doctest/doctest.h>

namespace accelscope::app::content {
namespace {

// An event with these columns; a text is a text column, a number the bytes.
struct Described {
  LaneSnapshot lane;
  EventRecord event;

  explicit Described(std::string name) {
    schema->name = "dma";
    event.lane = &lane;
    event.name_text = std::move(name);
  }
  Described(const Described&) = delete;
  Described& with(const char* column, FieldValue value, Role role = Role::none) {
    Column added;
    added.name = column;
    added.role = role;
    schema->columns.push_back(added);
    event.fields.push_back(std::move(value));
    lane.schema = std::make_shared<const Schema>(*schema);
    return *this;
  }
  std::shared_ptr<Schema> schema = std::make_shared<Schema>();
};

using Texts = std::vector<std::string>;

TEST_CASE("a transfer says its tensor, direction and size, and its queue and size where the tensor is unknown") {
  Described known("w1_12");
  known.with("transfer_size", std::int64_t{65536}, Role::bytes)
      .with("source", std::string("[['WEIGHT']]"))
      .with("dest", std::string("['SB']"))
      .with("queue_type", std::string("data"));
  CHECK(transfer_texts(known.event, {"w1_12"}) == Texts{"w1_12 WEIGHT→SB 64 KiB", "w1_12 64 KiB", "w1_12"});
  CHECK(transfer_texts(known.event, {"unknown"}) == Texts{"WEIGHT→SB 64 KiB", "64 KiB"});

  Described unknown("unknown");
  unknown.with("transfer_size", std::int64_t{4096}, Role::bytes)
      .with("source", std::string("[['unknown']]"))
      .with("dest", std::string("['unknown']"))
      .with("queue_type", std::string("software_dynamic"));
  CHECK(transfer_texts(unknown.event, {"unknown"}) == Texts{"software dynamic 4 KiB", "4 KiB"});
  CHECK(names_nothing("unknown"));
  CHECK_FALSE(names_nothing("w1"));
}

TEST_CASE("a wait says what it waits for, by its own words where no dependency tells") {
  CHECK(wait_texts("MATMUL") == Texts{"wait MATMUL", "MATMUL"});
  CHECK(wait_texts("").empty());
  Described sync("Stream Sync");
  sync.with("stream", std::int64_t{7});
  CHECK(stated_cause(sync.event) == "stream 7");
  Described device("Context Sync");
  device.with("stream", std::int64_t{-1});
  CHECK(stated_cause(device.event).empty());
  Described semaphore("EVENT_SEMAPHORE");
  semaphore.with("operands", std::string(" S[5] (Tensor)>=1 src=fp16"), Role::operands);
  CHECK(stated_cause(semaphore.event) == "Tensor");
  Described nameless("EVENT_SEMAPHORE");
  nameless.with("operands", std::string(" setter=0 $S[2]==8 $S[2]=0@complete "), Role::operands);
  CHECK(stated_cause(nameless.event) == "S[2]");
}

}  // namespace
}  // namespace accelscope::app::content
