#include "core/names/name_class.h"

#include <doctest/doctest.h>

#include "core/model/palette.h"

using accelscope::name_class;
using accelscope::palette_slot;

TEST_CASE("kernels and operators of one kind of work have one colour") {
  CHECK(palette_slot("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn") == 0);
  CHECK(palette_slot("aten::mm") == 0);
  CHECK(palette_slot("void flash::flash_fwd_kernel<Traits<128> >(Params)") == 1);
  CHECK(palette_slot("aten::_scaled_dot_product_flash_attention") == 1);
  CHECK(palette_slot("void at::native::multi_tensor_apply_kernel<int>(int)") == 2);
  CHECK(palette_slot("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8>(float*)") == 3);
  CHECK(palette_slot("triton_poi_fused_add_0") == 5);
  CHECK(palette_slot("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)") == 7);
  CHECK(palette_slot("Memcpy HtoD (Pageable -> Device)") == 9);
  CHECK(palette_slot("Memcpy DtoH (Device -> Pinned)") == 11);
  CHECK(palette_slot("ProfilerStep#12") == 6);
  CHECK(palette_slot("cudaLaunchKernel") == palette_slot("hipMemcpyAsync"));
}

TEST_CASE("frames of Python are coloured by whose file they are") {
  CHECK(palette_slot("train.py(12): step") == 10);
  CHECK(palette_slot("/home/me/moe/train.py(12): step") == 10);
  CHECK(palette_slot("torch/nn/modules/module.py(1532): _call_impl") == 2);
  CHECK(palette_slot("/opt/venv/lib/python3.10/site-packages/torch/_ops.py(1): f") == 2);
  CHECK(palette_slot("nn.Module: Linear_3") == 2);
  CHECK(palette_slot("transformers/a.py(1): f") == palette_slot("transformers/models/b.py(90): g"));
  CHECK(palette_slot("threading.py(1032): _bootstrap") == palette_slot("queue.py(1): get"));
}

TEST_CASE("names of other shapes keep their own colour, whatever words they hold") {
  for (const char* name :
       {"w_norm", "embedding", "attention_bias", "custom", "curve", "hip", "gather_idx", "", "adam"}) {
    CHECK_FALSE(name_class(name).has_value());
  }
  CHECK(palette_slot("w1") == 8);
  CHECK(palette_slot("identity") == 7);
  CHECK(palette_slot("MATMUL") == 0);
}

TEST_CASE("processors of a core have the colour of what they are there for") {
  CHECK(palette_slot("TRISC_0") == 6);
  CHECK(palette_slot("TRISC_1") == 0);
  CHECK(palette_slot("TRISC_2") == 4);
  CHECK(palette_slot("BRISC") == 8);
  CHECK(palette_slot("NCRISC") == 9);
}
