// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/cuda/launches/attention_decoding.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/steps/attention_steps.hpp>

namespace troupe::dnn {
namespace {

using kernel_arguments::attention_arguments, kernel_arguments::query_grid, kernel_arguments::rows_of_sequence;

bool is_width(std::int64_t n) noexcept { return n == 64 || n == 128; }

// The kernels, by the widths of k and v (64 or 128) and the most rows of a tile (8 or 16).
template <class H>
constexpr cuda::kernel_id kernels[2][2][2] = {
    {{cuda::kernel<"decode_64_64_8", H>, cuda::kernel<"decode_64_64_16", H>},
     {cuda::kernel<"decode_64_128_8", H>, cuda::kernel<"decode_64_128_16", H>}},
    {{cuda::kernel<"decode_128_64_8", H>, cuda::kernel<"decode_128_64_16", H>},
     {cuda::kernel<"decode_128_128_8", H>, cuda::kernel<"decode_128_128_16", H>}}};

}  // namespace

bool is_stored_type_attention(const operator_step& s) noexcept {
  constexpr std::int64_t most = 1 << 30;  // the kernels count in 32 bits
  if (s.what != op::attention) return false;
  const auto a = s.attributes.as<attention_attributes>();
  if (a.has_bias != 0 || a.dropout != 0) return false;
  const dtype type = s.inputs[0].type;
  if (type != dtype::f16 && type != dtype::bf16) return false;
  for (std::size_t i = 0; i < 3; ++i) {
    const location& l = s.inputs[i];
    if (l.type != type || !is_dense(l.shape) || l.offset % 8 != 0) return false;
  }
  if (s.outputs.size() == 2 &&
      ((s.outputs[0].type != dtype::f32 && s.outputs[0].type != type) || s.outputs[1].type != dtype::f32))
    return false;
  const attention_geometry g = geometry_of(s, [](const location&) -> void* { return nullptr; });
  if (!is_width(g.width) || !is_width(g.value_width) || g.queries > most || g.keys > most) return false;
  if (elements_of(s.inputs[1].shape) / g.width > most) return false;
  const std::int64_t rows = rows_of_sequence(g);
  return rows <= kernel_arguments::decoding_rows && query_grid(g, rows).count() <= most;
}

// The number of parts is the same on all GPUs, so that results are the same. Measured on an H200, which runs 396 of
// these blocks at once: 256 blocks are best if they divide the keys of a sequence into at least 4 parts; otherwise 1024
// blocks are best.
std::int64_t parts_of_decoding(const attention_geometry& g) noexcept {
  constexpr std::int64_t at_once = 256, several = 4, many = 1024, least_keys = 256, most_parts = 64;
  const std::int64_t units = query_grid(g, rows_of_sequence(g)).count();
  const std::int64_t preferred = (at_once / units >= several ? at_once : many) / units;
  return std::clamp<std::int64_t>(std::min(preferred, g.keys / least_keys), 1, most_parts);
}

result<void> enqueue_decoding(const operator_step& s, const attention_arguments& a, const launch_context& on) {
  for (const void* const p : {a.q, a.k, a.v})
    if (reinterpret_cast<std::uintptr_t>(p) % 16 != 0)
      return error(reaction::fatal, "dnn",
                   "the address of q, k or v of an attention of half types is not a multiple of 16");
  const std::int64_t rows = rows_of_sequence(a.g), blocks = query_grid(a.g, rows).count() * a.parts;
  const auto& of_type = s.inputs[0].type == dtype::f16 ? kernels<half> : kernels<bfloat16>;
  return cuda::launch(on.kernels, of_type[a.g.width / 128][a.g.value_width / 128][rows > 8],
                      {static_cast<unsigned>(blocks)}, {32 * kernel_arguments::decoding_warps}, on.stream, "dnn", a);
}

}  // namespace troupe::dnn
