#include "core/model/palette.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using accelscope::palette_slot;

TEST_CASE("palette: a tensor keeps the colour it has in every run and on every machine") {
  CHECK(palette_slot("w1") == 8);
  CHECK(palette_slot("w2") == 6);
  CHECK(palette_slot("x") == 10);
  CHECK(palette_slot("xT") == 10);
  CHECK(palette_slot("y") == 11);
  CHECK(palette_slot("a") == 3);
  CHECK(palette_slot("aT") == 2);
  CHECK(palette_slot("b2") == 9);
  CHECK(palette_slot("identity") == 7);
}

TEST_CASE("palette: the common opcodes have their own colours") {
  CHECK(palette_slot("MATMUL") == 0);
  CHECK(palette_slot("LDWEIGHTS") == 1);
  CHECK(palette_slot("TRANSPOSE") == 2);
  CHECK(palette_slot("ACTIVATE") == 3);
  CHECK(palette_slot("TENSOR_COPY") == 4);
  CHECK(palette_slot("TENSOR_TENSOR") == 5);
  CHECK(palette_slot("MEMSET") == 5);
  CHECK(palette_slot("IOTA") == 7);
  CHECK(palette_slot("DMA_TRIGGER") == 9);
  CHECK(palette_slot("DMA_DIRECT2D") == 11);
}

TEST_CASE("palette: a collective has one colour however its runtime spells it") {
  for (const char* name : {"AllReduce", "all_reduce", "ALL-REDUCE", "AllGather", "ReduceScatter", "AllToAll"}) {
    CHECK_MESSAGE(palette_slot(name) == 7, name);
  }
}

TEST_CASE("palette: instances of one name share its colour") {
  CHECK(palette_slot("w1_123") == palette_slot("w1"));
  CHECK(palette_slot("w1.7") == palette_slot("w1"));
  CHECK(palette_slot("MATMUL.12") == 0);
  CHECK(palette_slot("AllReduce_3") == 7);
}

TEST_CASE("palette: a name that is only a number, or empty, still has a colour") {
  for (const char* name : {"", "_", "_12", "12", ".", "\xff\xfe"}) {
    CHECK(palette_slot(name) < accelscope::kSlicePalette.size());
  }
  CHECK(palette_slot("_12") != palette_slot("_13"));
}

TEST_CASE("palette: many names use every slot") {
  std::set<int> used;
  for (int i = 0; i < 200; ++i) used.insert(palette_slot("kernel" + std::to_string(i) + "x"));
  CHECK(used.size() == accelscope::kSlicePalette.size());
}
