// What operators compute by the shapes of their inputs, and which of their kernels does it.
#include "capture/sources/tracks/kernel_work.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

namespace accelscope::capture::sources::tracks {
namespace {

constexpr std::string_view kHalf = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16","Scalar","Scalar"])";

double flops_of(std::string_view name, std::string_view dims, std::string_view values = {}) {
  const auto work = operator_work(name, dims, kHalf, values);
  return work ? work->flops : 0;
}

}  // namespace

TEST_CASE("operators: products of matrices have two operations for each multiplication, whatever holds their inputs") {
  CHECK(flops_of("aten::mm", "[[8944,1024],[1024,2816]]") == 2.0 * 8944 * 1024 * 2816);
  CHECK(flops_of("aten::addmm", "[[2816],[8944,1024],[1024,2816],[],[]]") == 2.0 * 8944 * 1024 * 2816);
  CHECK(flops_of("aten::bmm", "[[12,64,32],[12,32,48]]") == 2.0 * 12 * 64 * 32 * 48);
  CHECK(flops_of("aten::baddbmm", "[[12,64,48],[12,64,32],[12,32,48]]") == 2.0 * 12 * 64 * 32 * 48);
  CHECK(flops_of("aten::linear", "[[2,5,32],[48,32],[48]]") == 2.0 * 10 * 32 * 48);
  CHECK(flops_of("aten::mv", "[[64,32],[32]]") == 2.0 * 64 * 32);
  const auto work = operator_work("aten::addmm", "[[2816],[8944,1024],[1024,2816],[],[]]", kHalf, {});
  REQUIRE(work);
  CHECK(work->type == "bf16");
  CHECK(work->bytes == 2.0 * (8944 * 1024 + 1024 * 2816 + 8944 * 2816));
  CHECK(work->basis == "aten::addmm bf16 [8944, 1024] x [1024, 2816]");
}

TEST_CASE("operators: shapes that do not fit, or are missing, tell nothing") {
  CHECK(flops_of("aten::mm", "[[8,4],[5,6]]") == 0);
  CHECK(flops_of("aten::mm", "[[8,4]]") == 0);
  CHECK(flops_of("aten::mm", "[[[8,4],[4,6]],[]]") == 0);  // a list of tensors
  CHECK(flops_of("aten::mm", "") == 0);
  CHECK(flops_of("aten::mm", "[[-8,4],[4,6]]") == 0);
  CHECK(flops_of("aten::add", "[[8,4],[8,4]]") == 0);
  CHECK(flops_of("aten::conv2d", "[[1,3,8,8],[4,3,3,3]]") == 0);  // the stride is not told
}

TEST_CASE("operators: a convolution counts its output by stride, padding, dilation and groups") {
  const std::string plain = R"(["","","","[2, 2]","[1, 1]","[1, 1]","False","[0, 0]","1"])";
  // 16 x 16 by 3 x 3 with padding 1 and stride 2: 8 x 8
  CHECK(flops_of("aten::convolution", "[[2,3,16,16],[8,3,3,3],[8]]", plain) == 2.0 * 2 * 8 * 8 * 8 * 3 * 9);
  // Depthwise: each channel by itself.
  CHECK(flops_of("aten::convolution", "[[2,8,16,16],[8,1,3,3],[8]]", plain) == 2.0 * 2 * 8 * 8 * 8 * 1 * 9);
  // cuDNN's operator has the padding before the stride.
  CHECK(flops_of("aten::cudnn_convolution", "[[2,3,16,16],[8,3,3,3]]", R"(["","","[0, 0]","[1, 1]","[1, 1]"])") ==
        2.0 * 2 * 8 * 14 * 14 * 3 * 9);
  const std::string transposed = R"(["","","","[2, 2]","[1, 1]","[1, 1]","True","[0, 0]","1"])";
  CHECK(flops_of("aten::convolution", "[[2,3,16,16],[3,8,3,3],[8]]", transposed) == 2.0 * 2 * 3 * 256 * 8 * 9);
  const std::string one = R"(["","","","","","","","False","","","[False, True, False]"])";
  const std::string dims = "[[2,8,8,8],[2,3,16,16],[8,3,3,3]]";
  CHECK(flops_of("aten::convolution_backward", dims) == 2 * flops_of("aten::convolution_backward", dims, one));
}

TEST_CASE("operators: convolutions of sizes that no tensor has tell nothing that was added up wrongly") {
  const std::string dims = "[[2,3,9223372036854775807,16],[8,3,9223372036854775807,3],[8]]";
  for (const std::string_view far : {"9223372036854775807", "-9223372036854775808", "1"}) {
    CAPTURE(far);
    const std::string values =
        fmt::format(R"(["","","","[1, 1]","[{}, {}]","[{}, {}]","False","[0, 0]","1"])", far, far, far, far);
    CHECK(flops_of("aten::convolution", dims, values) >= 0);
    CHECK(flops_of("aten::convolution", "[[2,3,16,16],[8,3,-9223372036854775808,3],[8]]", values) >= 0);
  }
}

TEST_CASE("operators: attention takes two products, half of them behind a causal mask") {
  const std::string causal = R"(["","","","","","","","0.","True","False"])";
  const std::string whole = R"(["","","","","","","","0.","False","False"])";
  const std::string dims = "[[2,512,16,64],[2,512,16,64],[2,512,16,64],[],[],[],[],[],[],[]]";
  CHECK(flops_of("aten::_flash_attention_forward", dims, whole) == 4.0 * 2 * 16 * 512 * 512 * 64);
  CHECK(flops_of("aten::_flash_attention_forward", dims, causal) == 4.0 * 2 * 16 * (512 * 513 / 2) * 64);
  // Heads before the sequence; one query of a cache that is as long as it has become.
  CHECK(flops_of("aten::_scaled_dot_product_efficient_attention", "[[2,16,1,64],[2,16,900,64],[2,16,900,64]]",
                 R"(["","","","","False","0.","True"])") == 4.0 * 2 * 16 * 900 * 64);
  // Sequences one after another.
  CHECK(flops_of("aten::_flash_attention_forward", "[[1024,16,64],[1024,16,64],[1024,16,64],[5],[5]]", whole) ==
        4.0 * 4 * 16 * 256 * 256 * 64);
  const std::string back = "[[2,512,16,64],[2,512,16,64],[2,512,16,64],[2,512,16,64]]";
  CHECK(flops_of("aten::_flash_attention_backward", back) == 2.5 * 4.0 * 2 * 16 * 512 * 512 * 64);
}

TEST_CASE("operators: of an operator's kernels those that multiply are told from those that help") {
  for (const char* name :
       {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", "ampere_sgemm_128x64_nn",
        "void cutlass::Kernel<cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64_32x6_nn_align8>(Params)",
        "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32", "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNT",
        "void cudnn::cnn::wgrad_alg0_engine<float, 128, 6>", "void gemv2T_kernel_val<int, int, float>",
        "void pytorch_flash::flash_fwd_kernel<Traits>", "attn_fwd"})
    CHECK_MESSAGE(part_of_kernel(name) == KernelPart::main, name);
  for (const char* name :
       {"void splitKreduce_kernel<32, 16, int, float>", "void cublasLt::splitKreduce_kernel<32>",
        "void at::native::vectorized_elementwise_kernel<4, gemm>", "Cijk_SB_Bias_PostGSU8",
        "void cutlass::reduction::kernel::ReduceSplitK<gemm>", "void cudnn::ops::nchwToNhwcKernel<>",
        "void cask_cudnn::computeOffsetsKernel<false>", "batched_transpose_16x64_pack", "flash_bwd_dot_do_o_dot_kernel",
        "void flash_fwd_splitkv_combine_kernel<Traits>", "void cudnn::cnn::reduce_wgrad_nchw_helper<float>"})
    CHECK_MESSAGE(part_of_kernel(name) == KernelPart::helper, name);
  CHECK(part_of_kernel("my_kernel") == KernelPart::undecided);
  CHECK(type_of_kernel("cutlass_80_tensorop_s1688gemm_64x64_16x6_nn_align4", "fp32") == "tf32");
  CHECK(type_of_kernel("ampere_sgemm_128x64_nn", "fp32") == "fp32");
}

TEST_CASE("operators: a kernel of FlashAttention tells its work by its name and grid alone") {
  const std::string name =
      "void flash::flash_fwd_kernel<flash::Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::bfloat16_t, "
      "Kernel_traits<128, 64, 128, 4, cutlass::bfloat16_t> >, false, true, false>(flash::Flash_fwd_params)";
  const auto work = attention_of_grid(name, "[32, 2, 8]");
  REQUIRE(work);
  const double length = 32 * 64;
  CHECK(work->flops == 4.0 * 2 * 8 * (length * (length + 1) / 2) * 128);
  CHECK(work->type == "bf16");
  CHECK_FALSE(attention_of_grid(name, ""));
  CHECK_FALSE(attention_of_grid("void gemm<128, 64>", "[32, 2, 8]"));
}

}  // namespace accelscope::capture::sources::tracks
