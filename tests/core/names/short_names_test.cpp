#include "core/names/short_names.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/names/name_forms.h"

namespace {

using accelscope::name_forms;
using accelscope::ShortNames;

std::string usual(const std::string& name) {
  ShortNames names;
  return names.usual(name);
}

std::vector<std::string> all_usual(const std::vector<std::string>& view) {
  ShortNames names;
  for (const std::string& name : view) names.add(name);
  std::vector<std::string> shown;
  for (const std::string& name : view) shown.push_back(names.usual(name));
  return shown;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a kernel loses its return type, namespaces, template and call arguments") {
  CHECK(usual("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, float, "
              "at::native::(anonymous namespace)::SoftMaxForwardEpilogue>(float*, float const*, int)") ==
        "cunn_SoftMaxForward");
  CHECK(usual("void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true>(float*, float const*, "
              "int, int, int)") == "softmax_warp_forward");
  CHECK(usual("cask_cudnn::computeBOffsetsKernel(cask_cudnn::ComputeBOffsetsParams)") == "computeBOffsetsKernel");
  CHECK(usual("void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, (cutlass::bfloat16_t)2>, false>(flash::P) "
              "[clone .kd]") == "flash_fwd_kernel");
  CHECK(usual("std::enable_if<(a) < (b), int>::type ns::f<ns::T<int> >(int)") == "f");
  CHECK(usual("ns::Functor<float>::operator()(int) const") == "Functor");
  CHECK(usual("triton_poi_fused__unsafe_view_mul_silu_2") == "triton_poi_fused__unsafe_view_mul_silu_2");
}

TEST_CASE("prose, calls and odd texts are not taken for declarations") {
  for (const char* name : {"Memset (Device)", "PyTorch Profiler (0)", "ProfilerStep#12", "Optimizer.step#SGD.step", "",
                           "MATMUL", "<", ">", "(((", "operator", "operator<", "::", "a::", "void", "void ", "<>::()",
                           "[param|pytorch.model.alex_net|0|0|0|measure|forward]", "## forward:all2all ##"}) {
    CHECK(usual(name) == std::string(name));
  }
}

TEST_CASE("a matrix product keeps its type and tile, a collective what it is") {
  CHECK(name_forms("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn").texts ==
        Texts{"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn", "gemm bf16 128x64", "gemm bf16", "gemm"});
  CHECK(usual("volta_sgemm_128x32_nt") == "gemm f32 128x32");
  CHECK(usual("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4") ==
        "fprop tf32 128x128x16");
  CHECK(usual("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x256_32x3_nn_align4>("
              "cutlass_80_tensorop_s1688gemm_128x256_32x3_nn_align4::Params)") == "gemm 128x256");
  CHECK(usual("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x160x64_MI16x16x1_SN_LDSB0_AFC0") ==
        "gemm bf16 256x160x64");
  CHECK(usual("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)") == "AllReduce bf16");
  CHECK(usual("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)") == "SendRecv int8");
}

TEST_CASE("a kernel that runs a function keeps the function and the type of its elements") {
  const std::string multiplies =
      "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, "
      "c10::BFloat16, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)";
  CHECK(usual(multiplies) == "vectorized_elementwise_kernel MulFunctor bf16");
  CHECK(ShortNames().fitting(multiplies, 20) == "MulFunctor bf16");
  CHECK(usual("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>, "
              "unsigned int, float, 4> >(at::native::ReduceOp<float>)") == "reduce_kernel MeanOps f32");
  CHECK(usual("void at::native::vectorized_elementwise_kernel<4, "
              "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda(float)#1}, std::array<char*, "
              "2ul> >(int)") == "vectorized_elementwise_kernel bfloat16_copy_kernel_cuda f32");
  CHECK(usual("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<long>, std::array<char*, 1ul> "
              ">(int)") == "vectorized_elementwise_kernel FillFunctor int64");
}

TEST_CASE("names that say nothing but themselves stay whole") {
  CHECK(usual("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)") == "ncclDevKernel_Generic_1");
  CHECK(usual("ncclDevKernel_Generic_1") == "ncclDevKernel_Generic_1");
  CHECK(usual("ProfilerStep#1009") == "ProfilerStep#1009");
  CHECK(usual("void cutlass::Kernel2<tf32>") == "Kernel2<tf32>");  // a type names no kernel
  CHECK(usual("train_step/12") == "train_step/12");
  const std::string step = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  CHECK(usual(step) == step);
}

TEST_CASE("Python keeps file and function, built-ins their type, operators and paths their leaf") {
  CHECK(name_forms("torch/nn/modules/module.py(1532): _call_impl").texts ==
        Texts{"torch/nn/modules/module.py(1532): _call_impl", "module.py:1532 _call_impl", "module.py:_call_impl",
              "_call_impl"});
  CHECK(usual("torch/nn/modules/module.py(1532): _call_impl") == "module.py:_call_impl");
  CHECK(usual("<built-in method to of Tensor object at 0x7d67180cc190>") == "Tensor.to");
  CHECK(usual("<built-in method __new__ of type object at 0xa1d880>") == "__new__");
  CHECK(usual("<built-in function linear>") == "linear");
  CHECK(usual("nn.Module: Linear_105") == "Linear_105");
  CHECK(usual("aten::_scaled_dot_product_attention") == "_scaled_dot_product_attention");
  CHECK(usual("autograd::engine::evaluate_function: AddmmBackward0") == "AddmmBackward0");
  CHECK(usual("/model/layers.3/mlp/gate_proj") == "gate_proj");
  CHECK(usual("jit(train step)/jit(main)/dot_general") == "dot_general");
  CHECK(usual("Memcpy HtoD (Pageable -> Device)") == "HtoD Pageable");
  CHECK(name_forms("cudaLaunchKernel").texts == Texts{"cudaLaunchKernel", "LaunchKernel"});
}

TEST_CASE("two names that differ only in what was cut stay different") {
  const std::string head = "void at::native::vectorized_elementwise_kernel<4, at::native::";
  const std::string tail = "<float>, at::detail::Array<char*, 1> >(int, at::native::Functor)";
  CHECK(all_usual({head + "FillFunctor" + tail, head + "CUDAFunctor_add" + tail}) ==
        Texts{"vectorized_elementwise_kernel FillFunctor f32", "vectorized_elementwise_kernel CUDAFunctor_add f32"});
  CHECK(all_usual({"void f<float, int>(int)", "void f<float, float>(int)", "void f<int, float>(int)"}) ==
        Texts{"f<float, int>", "f float", "f<int, float>"});
  CHECK(all_usual({"void f<1, float>(int)", "void f<1, int>(int)"}) == Texts{"f float", "f int"});
  CHECK(all_usual({"aten::add", "prims::add"}) == Texts{"aten::add", "prims::add"});
  CHECK(all_usual({"autograd::engine::evaluate_function: AddBackward0", "AddBackward0"}) ==
        Texts{"evaluate_function: AddBackward0", "AddBackward0"});
  CHECK(all_usual({"m/qwen.py(10): forward", "m/qwen.py(90): forward", "m/llama.py(5): forward"}) ==
        Texts{"qwen.py:10 forward", "qwen.py:90 forward", "llama.py:forward"});
  CHECK(all_usual({"layers.0/mlp", "layers.1/mlp", "layers.1/attention"}) ==
        Texts{"layers.0/mlp", "layers.1/mlp", "attention"});
  CHECK(all_usual({"volta_sgemm_64x64_nn", "volta_sgemm_64x64_nt"}) == Texts{"gemm f32 64x64 nn", "gemm f32 64x64 nt"});
  CHECK(
      all_usual({"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_execute_kernel__5x_cublas",
                 "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_execute_split_k_kernel__5x_cublas"}) ==
      Texts{"gemm f32 64x256x8", "gemm f32 64x256x8 split-k"});
}

TEST_CASE("objects of one kind read alike, whatever their addresses") {
  CHECK(all_usual({"<built-in method item of Tensor object at 0x1>",
                   "<built-in method item of Tensor object at 0x2>"}) == Texts{"Tensor.item", "Tensor.item"});
}

TEST_CASE("the longest form that fits is taken, and none rather than one that reads like another name") {
  ShortNames names;
  const std::string kernel = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn";
  CHECK(names.fitting(kernel, 100) == "gemm bf16 128x64");
  CHECK(names.fitting(kernel, 10) == "gemm bf16");
  CHECK(names.fitting(kernel, 4) == "gemm");
  CHECK(names.fitting(kernel, 3).empty());
  names.add("ampere_bf16_s16816gemm_bf16_256x64_ldg8_f2f_stages_64x4_nn");
  CHECK(names.fitting(kernel, 100) == "gemm bf16 128x64");
  CHECK(names.fitting(kernel, 10).empty());
  CHECK(names.fitting("gemm \u00b5s", 7) == "gemm \u00b5s");
}

TEST_CASE("whatever the names are, no two of a view read alike") {
  std::vector<std::string> view;
  for (const char* base : {"vectorized_elementwise_kernel", "reduce_kernel", "Kernel"}) {
    for (const char* type : {"float", "c10::Half", "long", "at::native::Fill<float>", "at::native::Fill<int>"}) {
      for (const char* width : {"1", "4", "8"}) {
        view.push_back(std::string("void at::native::") + base + "<" + width + ", " + type + ">(int)");
        view.push_back(std::string("void other::") + base + "<" + width + ", " + type + ">(int, float)");
      }
    }
  }
  ShortNames names;
  for (const std::string& name : view) names.add(name);
  std::set<std::string> seen;
  for (const std::string& name : view) {
    for (const std::string& form : names.forms(name)) CHECK_MESSAGE(seen.insert(form).second, form);
  }
}

TEST_CASE("rows lose the words that all of them share") {
  using accelscope::without_shared_words;
  CHECK(without_shared_words({"gpu 0 memory Reserved", "gpu 0 memory Allocated"}) == Texts{"Reserved", "Allocated"});
  CHECK(without_shared_words({"PE use", "DVE use"}) == Texts{"PE", "DVE"});
  CHECK(without_shared_words({"memory", "memory Total"}) == Texts{"memory", "memory Total"});
  CHECK(without_shared_words({"alone here"}) == Texts{"alone here"});
  CHECK(without_shared_words({"a b", "a b"}) == Texts{"b", "b"});
}

TEST_CASE("a name of thousands of parts costs about what it holds, and is still told apart") {
  const auto repeated = [](const std::string& part, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
  };
  for (const std::string& name :
       {repeated("x/", 50'000), repeated("x/", 20'000), repeated("a\n", 20'000), repeated("a::", 20'000),
        repeated("a_", 20'000), repeated("f16", 20'000), "sm80_gemm_" + repeated("f16", 20'000), repeated("f<", 20'000),
        repeated("f<a,", 10'000) + repeated(">", 10'000) + "(int)", repeated("A", 200'000),
        repeated("\u00e4", 40'000)}) {
    CAPTURE(name.size());
    CAPTURE(name.substr(0, 12));
    const accelscope::NameForms forms = name_forms(name);
    CHECK(forms.texts.size() <= accelscope::NameLimits::kForms);
    CHECK(forms.parts.size() <= accelscope::NameLimits::kParts);
    std::size_t bytes = 0;
    for (const std::string& text : forms.texts) bytes += text.size();
    CHECK(bytes <= 4 * name.size());
    ShortNames names;
    names.add(name);
    names.add(name + "b");
    CHECK(names.usual(name) != names.usual(name + "b"));
    CHECK_FALSE(names.fitting(name, name.size()).empty());
  }
}

TEST_CASE("thirty thousand names of one form are added as fast as others") {
  ShortNames names;
  for (int i = 0; i < 30'000; ++i) names.add("ns" + std::to_string(i) + "::work<" + std::to_string(i) + ">(int)");
  CHECK(names.size() == 30'000);
  CHECK(names.usual("ns7::work<7>(int)") == "work<7>");
}

TEST_CASE("of a stack only so many frames are taken apart, the innermost ones") {
  std::string stack;
  for (int i = 0; i < 20'000; ++i) stack += "f" + std::to_string(i) + "\n";
  const std::string_view retained = accelscope::innermost_frames(stack);
  CHECK(static_cast<std::size_t>(std::count(retained.begin(), retained.end(), '\n')) ==
        accelscope::NameLimits::kFrames);
  CHECK(retained.starts_with("f0\nf1\n"));
  CHECK(accelscope::innermost_frames("a\nb") == "a\nb");
}
