// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A plug-in of fakes of CUTLASS's kernels, which compute on the processor. It is part of the engine on fakes; the
// engine loads itself as the plug-in if TROUPE_CUTLASS names the engine's file.
#include <array>
#include <cmath>
#include <string_view>
#include <troupe/base/dtype.hpp>
#include <troupe/cuda/testing/fake_driver.hpp>
#include <troupe/cutlass/vendor/interface.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/windows/definition.hpp>
#include <utility>
#include <vector>

namespace troupe::cutlass::vendor {
namespace {

// A fake kernel. Tiles and types are those of the real plug-in's kernels.
struct spec {
  const char* name;
  variant_kind kind;
  const char *factor, *result, *a_layout, *b_layout, *d_layout;
  int tile_m, tile_n, tile_k, stages, cluster;
  const char* schedule = "cooperative";
  const char* machine_code = "sm_90a";
  const char* epilogue = "alpha * acc + beta * c";
  long long workspace = 0;
  unsigned device_parameter_bytes = 368;
};
constexpr const char* old_code = "sm_80 sm_90";
constexpr spec specs[] = {
    {"fake80_bf16_row_column", product, "bf16", "bf16", "row", "column", "row", 128, 256, 32, 3, 1, "multistage",
     old_code},
    {"fake80_bf16_row_row", product, "bf16", "bf16", "row", "row", "row", 128, 256, 32, 3, 1, "multistage", old_code},
    {"fake80_f16_row_column", product, "f16", "f16", "row", "column", "row", 128, 256, 32, 3, 1, "multistage",
     old_code},
    {"fake80_f16_row_row", product, "f16", "f16", "row", "row", "row", 128, 256, 32, 3, 1, "multistage", old_code},
    {"fake80_tf32_row_column", product, "tf32", "f32", "row", "column", "row", 128, 128, 32, 3, 1, "multistage",
     old_code},
    {"fake80_tf32_row_row", product, "tf32", "f32", "row", "row", "row", 128, 128, 32, 3, 1, "multistage", old_code},
    {"fake86_f16_row_column", product, "f16", "f16", "row", "column", "row", 128, 128, 32, 4, 1, "multistage",
     old_code},
    {"fake89_e4m3_row_column", product, "e4m3", "bf16", "row", "column", "row", 128, 128, 64, 3, 1, "multistage",
     old_code},
    {"fake90_bf16_cooperative", product, "bf16", "bf16", "row", "column", "row", 128, 256, 64, 4, 2},
    {"fake90_bf16_pingpong", product, "bf16", "bf16", "row", "column", "row", 64, 128, 64, 8, 2, "ping-pong"},
    {"fake90_bf16_stream_k", product, "bf16", "bf16", "row", "column", "row", 128, 256, 64, 4, 2,
     "cooperative, stream-K", "sm_90a", "alpha * acc + beta * c", 8192},
    {"fake90_e4m3_fast", product, "e4m3", "bf16", "row", "column", "row", 128, 256, 128, 4, 2},
    {"fake90_f16_cooperative", product, "f16", "f16", "row", "column", "row", 128, 256, 64, 4, 2},
    {"fake90_bf16_bias_gelu", product, "bf16", "bf16", "row", "column", "row", 128, 256, 64, 4, 2, "cooperative",
     "sm_90a", "gelu(alpha * acc + beta * c + bias)"},
    {"fake90_bf16_grouped", grouped_product, "bf16", "bf16", "row", "column", "row", 128, 256, 64, 4, 2, "cooperative",
     "sm_90a", "alpha * acc + beta * c", 1024},
    {"fake80_conv_forward", conv_forward, "f16", "f16", "nhwc", "krsc", "nhwc", 128, 128, 32, 4, 1, "multistage",
     old_code},
    {"fake80_conv_data_gradient", conv_data_gradient, "f16", "f16", "nhwc", "krsc", "nhwc", 128, 128, 32, 4, 1,
     "multistage", old_code},
    {"fake80_conv_weight_gradient", conv_weight_gradient, "f16", "f16", "nhwc", "nhwc", "krsc", 128, 128, 32, 4, 1,
     "multistage", old_code},
    {"fake90_mxfp8", scaled_product, "e4m3", "bf16", "row", "column", "row", 128, 128, 128, 2, 1},
    {"fake120_mxfp8", scaled_product, "e4m3", "bf16", "row", "column", "row", 128, 128, 128, 2, 1, "cooperative",
     "sm_120a"},
    // A kernel whose parameters have another size in its device code.
    {"fake90_disagrees", product, "f16", "bf16", "row", "column", "row", 128, 128, 64, 4, 1, "cooperative", "sm_90a",
     "alpha * acc + beta * c", 0, 1280},
};

dtype type_of(std::string_view name) {
  return name == "f16" ? dtype::f16 : name == "bf16" ? dtype::bf16 : name == "e4m3" ? dtype::f8e4m3 : dtype::f32;
}

// The elements of an operand, read as doubles.
struct memory {
  const void* first;
  dtype type;
  double operator[](long long i) const {
    return epilogue::number_at(static_cast<const std::byte*>(first) + i * static_cast<long long>(bytes_of(type)), type);
  }
  void put(long long i, double x) const {
    epilogue::put_number(
        const_cast<std::byte*>(static_cast<const std::byte*>(first)) + i * static_cast<long long>(bytes_of(type)), type,
        x);
  }
};

// Returns the epilogue's result for one sum.
double finished(const spec& s, const launch& l, double sum, double c, double bias) {
  const double x = l.alpha * sum + (l.beta != 0 ? l.beta * c : 0) + bias;
  if (!std::string_view(s.epilogue).starts_with("gelu")) return x;
  return 0.5 * x * (1 + std::tanh(0.7978845608028654 * x * (1 + 0.044715 * x * x)));
}

void compute_product(const spec& s, const launch& l) {
  const memory a{l.a, type_of(s.factor)}, b{l.b, type_of(s.factor)}, c{l.c, type_of(s.result)},
      d{l.d, type_of(s.result)}, bias{l.bias, type_of(s.result)};
  const bool b_by_rows = std::string_view(s.b_layout) == "row";
  for (long long w = 0; w < l.batch; ++w)
    for (long long i = 0; i < l.m; ++i)
      for (long long j = 0; j < l.n; ++j) {
        double sum = 0;
        for (long long t = 0; t < l.k; ++t)
          sum += a[w * l.a_batch + i * l.a_line + t] *
                 b[w * l.b_batch + (b_by_rows ? t * l.b_line + j : j * l.b_line + t)];
        d.put(w * l.d_batch + i * l.d_line + j,
              finished(s, l, sum, l.beta != 0 ? c[w * l.c_batch + i * l.c_line + j] : 0,
                       l.bias != nullptr ? bias[j] : 0));
      }
}

void compute_groups(const spec& s, const launch& l) {
  for (int g = 0; g < l.groups; ++g) {
    launch one = l;
    one.m = l.shapes[3 * g], one.n = l.shapes[3 * g + 1], one.k = l.shapes[3 * g + 2], one.batch = 1;
    one.a = l.group_a[g], one.b = l.group_b[g], one.c = l.group_c[g], one.d = l.group_d[g];
    one.a_line = l.group_a_line[g], one.b_line = l.group_b_line[g], one.c_line = l.group_c_line[g],
    one.d_line = l.group_d_line[g];
    compute_product(s, one);
  }
}

// Computes a convolution of two spatial axes. Channels are contiguous.
void compute_convolution(const spec& s, const launch& l) {
  const memory a{l.a, type_of(s.factor)}, b{l.b, type_of(s.factor)}, c{l.c, type_of(s.result)},
      d{l.d, type_of(s.result)};
  const windows::slides window{{{l.pad_height, l.pad_height, l.stride_height, l.dilation_height},
                                {l.pad_width, l.pad_width, l.stride_width, l.dilation_width}}};
  const auto what = s.kind == conv_forward         ? windows::computed_tensor::y
                    : s.kind == conv_data_gradient ? windows::computed_tensor::dx
                                                   : windows::computed_tensor::dfilters;
  const windows::convolution_definition convolution{
      what,
      window,
      1,
      {{.rank = 4, .extents = {l.images, l.channels, l.height, l.width}},
       {.rank = 4, .extents = {l.filters, l.channels, l.filter_height, l.filter_width}},
       {.rank = 4,
        .extents = {l.images, l.filters, windows::positions_along(window[0], l.height, l.filter_height),
                    windows::positions_along(window[1], l.width, l.filter_width)}}}};
  const auto element_of = [](const memory& m, const tensor_shape& t) {
    return [&](const windows::tensor_index& at) {
      return m[((at[0] * t.extents[2] + at[2]) * t.extents[3] + at[3]) * t.extents[1] + at[1]];
    };
  };
  const tensor_shape& computed = convolution.shapes.computed(what);
  // The result may be c.
  std::vector<double> sums;
  windows::for_each_index(computed, 0, {}, [&](const windows::tensor_index& at) {
    sums.push_back(convolution.element(at, element_of(a, convolution.shapes.first(what)),
                                       element_of(b, convolution.shapes.second(what))));
  });
  const std::int64_t channels = computed.extents[1], positions = computed.extents[2] * computed.extents[3];
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int64_t line = static_cast<std::int64_t>(i) / positions,
                       position = static_cast<std::int64_t>(i) % positions;
    const std::int64_t at = (line / channels * positions + position) * channels + line % channels;
    d.put(at, finished(s, l, sums[i], l.beta != 0 ? c[at] : 0, 0));
  }
}

// The functions and the description of fake kernel I.
template <std::size_t I>
struct fake_variant {
  static constexpr const spec& s = specs[I];
  static int can_compute(const launch* l) {
    return s.kind == conv_data_gradient && l->dilation_height > 1 ? rejected : accepted;
  }
  static long long workspace_bytes(const launch*) { return s.workspace; }
  static int enqueue(const launch* l, void*, long long bytes, void*) {
    if (bytes < s.workspace) return no_workspace;
    const auto work = [one = *l] {
      if (s.kind == grouped_product)
        compute_groups(s, one);
      else if (s.kind >= conv_forward)
        compute_convolution(s, one);
      else
        compute_product(s, one);
    };
    auto& driver = cuda::testing::driver();
    const std::function<void()> computing = driver.computes ? std::function<void()>(work) : nullptr;
    return driver.enqueue(computing, s.name, l->m, l->n, l->k, l->batch, l->alpha, l->beta) == CUDA_SUCCESS
               ? accepted
               : cuda_failed;
  }
  static int read_parameter_bytes(unsigned* bytes) {
    *bytes = s.device_parameter_bytes;
    return cuda::testing::driver().called("read_parameter_bytes", s.name) == 0 ? accepted : cuda_failed;
  }
  static long long scale_offset(const launch*, int line, int block) {
    return 16 * (line % 32) + 4 * (line / 32 % 4) + block % 4 + 512 * (block / 4 + line / 128);
  }
  static kernel_variant describe() {
    kernel_variant c{};
    c.name = s.name, c.kind = s.kind;
    c.a = c.b = s.factor, c.c = c.d = s.result, c.accumulator = "f32";
    c.a_layout = s.a_layout, c.b_layout = s.b_layout, c.d_layout = s.d_layout;
    c.a_alignment = c.b_alignment = static_cast<int>(16 / bytes_of(type_of(s.factor)));
    c.d_alignment = static_cast<int>(16 / bytes_of(type_of(s.result)));
    c.tile_m = s.tile_m, c.tile_n = s.tile_n, c.tile_k = s.tile_k, c.stages = s.stages;
    c.cluster_m = s.cluster, c.cluster_n = 1, c.schedule = s.schedule, c.epilogue = s.epilogue;
    c.bias = std::string_view(s.epilogue).starts_with("gelu"), c.machine_code = s.machine_code;
    c.capability = s.machine_code == old_code ? 80 : s.machine_code == std::string_view("sm_120a") ? 120 : 90;
    c.threads = 384, c.shared_bytes = 200000, c.parameter_bytes = 368;
    c.can_compute = can_compute, c.workspace_bytes = workspace_bytes, c.enqueue = enqueue,
    c.read_parameter_bytes = read_parameter_bytes;
    if (s.kind == scaled_product)
      c.scale = "ue8m0", c.scale_block = 32, c.a_scale_offset = c.b_scale_offset = scale_offset;
    return c;
  }
  static inline const kernel_variant one = describe();
};

template <std::size_t... I>
std::array<const kernel_variant*, sizeof...(I)> all_of(std::index_sequence<I...>) {
  return {&fake_variant<I>::one...};
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const table* troupe_cutlass_variants() {
  static const auto variants = all_of(std::make_index_sequence<std::size(specs)>());
  static const table t{.version = interface_version,
                       .variant_bytes = sizeof(kernel_variant),
                       .launch_bytes = sizeof(launch),
                       .count = static_cast<int>(variants.size()),
                       .variants = variants.data(),
                       .cutlass_version = "0.0.0 of fakes",
                       .compiler = "",
                       .headers = "",
                       .kernels_header = ""};
  return &t;
}

}  // namespace troupe::cutlass::vendor
