// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/ampere_variant.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>

namespace troupe::cutlass {
namespace {

bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }
bool is_8_bit_float(dtype t) noexcept { return t == dtype::f8e4m3 || t == dtype::f8e5m2; }
bool is_narrow(dtype t) noexcept { return t == dtype::i8 || t == dtype::f4e2m1x2 || is_8_bit_float(t); }
bool is_mixed(const ampere_variant& c) noexcept { return !c.exact && is_half(c.first.type) != is_half(c.second.type); }
// Returns true if the address of each term of a factor is computed: then its lines are contiguous, or its elements are
// read one by one.
bool has_gathered_k(const ampere_variant& c, int which) noexcept {
  return c.convolution == convolution_kind::weight_gradient ||
         (c.convolution == convolution_kind::data_gradient && which == 2);
}
const ampere_factor& factor_of(const ampere_variant& c, int which) noexcept { return which == 1 ? c.first : c.second; }
contiguous_axis contiguous_axis_of(const ampere_variant& c, int which) noexcept {
  const contiguous_axis n = factor_of(c, which).contiguous;
  return n == contiguous_axis::k && has_gathered_k(c, which) ? contiguous_axis::none : n;
}
int size_of(dtype t) noexcept { return static_cast<int>(bytes_of(t)); }
// Returns true for types that a float holds exactly, or nearly so.
bool fits_float(dtype t) noexcept {
  return is_half(t) || is_narrow(t) || t == dtype::f32 || t == dtype::u8 || t == dtype::i16 || t == dtype::u16;
}
int terms_per_unit(dtype t) noexcept { return t == dtype::f4e2m1x2 ? 2 : 1; }

// Returns the bytes that are copied at once; 0: elements are copied through registers.
int chunk_of(const ampere_variant& c, int which) noexcept {
  const ampere_factor& f = factor_of(c, which);
  const int size = size_of(f.type), aligned = f.alignment >= 16 ? 16 : f.alignment >= 8 ? 8 : f.alignment >= 4 ? 4 : 0;
  const bool none = contiguous_axis_of(c, which) == contiguous_axis::none,
             lines = f.contiguous == contiguous_axis::lines;
  if (c.exact) {
    if (f.type != dtype::f32 || f.scales != dtype{}) return 0;
    return lines ? std::max(4, aligned) : 4;
  }
  if (size >= 4) return none ? size : std::max(size, aligned);
  return none || (size == 1 && has_gathered_k(c, which)) ? 0 : aligned;
}

bool is_by_lines(const ampere_variant& c, int which) noexcept {
  return factor_of(c, which).contiguous == contiguous_axis::lines || has_gathered_k(c, which);
}

// Returns the bytes of a factor in a stage, equal to factor_in_shared_memory::bytes in templates/ampere_factors.cuh.
int bytes_in_shared_memory(const ampere_variant& c, int which) noexcept {
  const ampere_factor& f = factor_of(c, which);
  const int lines = which == 1 ? c.tile_m : c.tile_n;
  const int size = size_of(f.type), stored = c.exact ? 4 : size, units = depth_of(c) / terms_per_unit(f.type);
  const bool by_lines = c.exact || (is_by_lines(c, which) && chunk_of(c, which) > 0 && size > 1);
  if (by_lines) return (c.exact ? depth_of(c) : units) * (lines * stored + (c.exact || size == 2 ? 16 : 32));
  return lines * (units * stored + (size == 8 || (is_mixed(c) && size == 2) ? 32 : 16));
}

// Same as item_distribution::even in templates/ampere_factors.cuh, for factors that are gathered.
bool divides_evenly(const ampere_variant& c, int which) noexcept {
  const bool lines = has_gathered_k(c, which);
  if (!lines && (which == 2 || c.convolution == convolution_kind::none)) return true;
  const int size = size_of(factor_of(c, which).type), chunk = chunk_of(c, which);
  const int in_chunk = chunk > 0 ? chunk / size : lines || c.exact ? 1 : 4 / size;
  return threads_of(c) % ((lines ? (which == 1 ? c.tile_m : c.tile_n) : depth_of(c)) / in_chunk) == 0;
}

int step_of(const ampere_variant& c) noexcept {
  if (c.exact) return 1;
  if (c.first.type == dtype::f64) return 8;
  return is_mixed(c) ? 16 : 32 / size_of(c.first.type);
}

std::string factor_text(const ampere_variant& c, int which) {
  const ampere_factor& f = factor_of(c, which);
  return cat("using ", which == 1 ? "first" : "second", " = ", name_of_type(f.type), ";\nusing scale_", which, " = ",
             name_of_type(f.scales), ";\nconstexpr int chunk_", which, " = ", chunk_of(c, which),
             ";\nconstexpr bool by_lines_", which, " = ", is_by_lines(c, which) ? "true" : "false", ", scattered_",
             which, " = ", contiguous_axis_of(c, which) == contiguous_axis::none ? "true" : "false", ";\n");
}

}  // namespace

bool has_tensor_cores(dtype first, dtype second) noexcept {
  if (is_half(first) && is_half(second)) return first == second;
  if (is_half(first) || is_half(second)) return is_narrow(is_half(first) ? second : first);
  if (is_8_bit_float(first)) return is_8_bit_float(second);
  return first == second && (first == dtype::f32 || first == dtype::f64 || first == dtype::i8);
}

int depth_of(const ampere_variant& c) noexcept {
  if (c.depth > 0) return c.depth;
  if (c.exact) return 16;
  if (is_mixed(c)) return 64;
  // Lines of 128 bytes in a stage, if terms are contiguous.
  const bool lines = c.first.contiguous == contiguous_axis::lines && c.second.contiguous == contiguous_axis::lines;
  return (lines && size_of(c.first.type) == 2 ? 64 : 128) / size_of(c.first.type);
}

bool passes_registers(const ampere_variant& c, int which) noexcept { return chunk_of(c, which) == 0; }

int words_in_registers(const ampere_variant& c) noexcept {
  int words = 0;
  for (const int which : {1, 2}) {
    const dtype t = factor_of(c, which).type;
    if (c.exact || (!passes_registers(c, which) && !(is_by_lines(c, which) && size_of(t) == 1))) continue;
    words += (which == 1 ? c.tile_m : c.tile_n) * (depth_of(c) / terms_per_unit(t)) * size_of(t) / 4 / threads_of(c);
  }
  return words;
}

int threads_of(const ampere_variant& c) noexcept { return c.warps_m * c.warps_n * 32; }

int shared_bytes_of(const ampere_variant& c) noexcept {
  const int stages = c.stages * (bytes_in_shared_memory(c, 1) + bytes_in_shared_memory(c, 2));
  const int results = 16 * (c.tile_n / c.warps_n + 8) * (c.first.type == dtype::f64 ? 8 : 4) * c.warps_m * c.warps_n;
  return std::max(stages, results);
}

std::string_view error_of(const ampere_variant& c) noexcept {
  const int rows = c.exact ? 32 : 16, columns = c.paired ? 32 : 16, step = step_of(c), depth = depth_of(c);
  const bool scaled = c.first.scales != dtype{} || c.second.scales != dtype{};
  if (!c.exact && !has_tensor_cores(c.first.type, c.second.type)) return "only an exact variant multiplies these types";
  if (c.exact && (!fits_float(c.first.type) || !fits_float(c.second.type)))
    return "exact: expected types that a float holds";
  if (c.stages < 2) return "stages: expected at least 2";
  if (c.tile_m % (c.warps_m * rows) != 0) return "tile_m: expected 16 rows for each warp, 32 if exact, or a multiple";
  if (c.tile_n % (c.warps_n * columns) != 0)
    return "tile_n: expected 16 columns for each warp, 32 for pairs, or a multiple";
  if (c.tile_m % 32 != 0 || c.tile_n % 32 != 0) return "tile_m, tile_n: expected multiples of 32";
  if (threads_of(c) > 1024) return "warps_m, warps_n: expected at most 32 warps";
  if (depth % (2 * step) != 0 || (!c.exact && depth * size_of(c.first.type) / terms_per_unit(c.first.type) % 16 != 0))
    return "depth: expected an even number of steps";
  if (c.convolution != convolution_kind::none) {
    if (scaled || c.first.type == dtype::f4e2m1x2 || c.second.type == dtype::f4e2m1x2)
      return "convolution: neither scales nor f4e2m1x2 can be gathered";
    if (c.rank < 1 || c.rank > 3) return "rank: expected 1, 2 or 3";
    if (c.convolution != convolution_kind::weight_gradient && c.first.contiguous == contiguous_axis::lines)
      return "first: expected contiguous channels, or no contiguous axis";
    if (!divides_evenly(c, 1) || !divides_evenly(c, 2))
      return "tile_m, tile_n: expected tiles whose copies divide evenly among the threads";
  } else if (c.strided_result) {
    return "strided_result: expected false, because this is no convolution";
  }
  if (c.exact && c.promotion_k > 0) return "promotion_k: expected 0, because an exact variant scales each element";
  if (scaled && !c.exact && c.promotion_k == 0) return "promotion_k: expected more than 0, because there are scales";
  if (c.promotion_k % step != 0 || (c.promotion_k > 0 && c.promotion_k % depth != 0 && depth % c.promotion_k != 0))
    return "promotion_k: expected a multiple of a step, and a multiple or a divisor of the depth";
  return {};
}

std::string text_of(const ampere_variant& c, const std::string& epilogue_text) {
  const auto yes = [](bool b) { return b ? "true" : "false"; };
  const std::string_view products = c.exact                                                   ? "float"
                                    : c.first.type == dtype::i8 && c.second.type == dtype::i8 ? "int"
                                    : c.first.type == dtype::f64                              ? "double"
                                                                                              : "float";
  const bool gathers = c.convolution != convolution_kind::none;
  const std::string_view all = gathers ? "all_with_convolution" : "kernel_epilogue::all";
  std::string includes = c.grouped ? "#define TROUPE_GROUPS\n" : "", templates;
  for (const std::string_view name : {"arguments.hpp", "numbers.cuh", "lines.cuh", "values.cuh"})
    includes += cat("#include <troupe/cutlass/templates/", name, ">\n");
  for (const std::string_view name :
       {"schedule.cuh", "results.cuh", "divided_tiles.cuh", "window_locations.cuh", "ampere_instructions.cuh",
        "ampere_factors.cuh", "ampere_windows.cuh", "ampere_fragments.cuh", "ampere.cuh"})
    templates += cat("#include <troupe/cutlass/templates/", name, ">\n");
  return cat(
      includes, "namespace troupe::cutlass::kernels {\n", epilogue_text,
      "namespace variant {\nusing products = ", products, ";\nusing sums = ", c.promotion_k > 0 ? "float" : products,
      ";\nusing result = ", name_of_type(c.result),
      ";\nusing wide = ", name_of_type(is_half(c.first.type) ? c.first.type : c.second.type), ";\n", factor_text(c, 1),
      factor_text(c, 2), "[[maybe_unused]] constexpr int tile_m = ", c.tile_m, ", tile_n = ", c.tile_n,
      ", warps_m = ", c.warps_m, ", warps_n = ", c.warps_n, ", stages = ", c.stages, ", depth = ", depth_of(c),
      ", cluster_m = 1, cluster_n = 1, promotion_k = ", c.promotion_k, ", result_access = ", c.result_access,
      ", convolution = ", static_cast<int>(c.convolution), ", rank = ", c.rank,
      ", registers_to_add = 64, part_rows = ", c.exact ? 32 : 16,
      ", part_columns = tile_n / warps_n / (kernel_epilogue::paired ? 2 : 1);\nconstexpr bool exact = ", yes(c.exact),
      ", mixed = ", yes(is_mixed(c)), ", divides = ", yes(c.divides), ", strided = ", yes(c.strided_result),
      ";\n}\n}\n", templates,
      "#ifdef TROUPE_REDUCES\n#include <troupe/cutlass/templates/combine.cuh>\n#endif\n"
      "namespace troupe::cutlass::kernels {\nstatic_assert(ampere::shared_bytes == ",
      shared_bytes_of(c),
      ", \"the host counts the same\");\nextern \"C\" __constant__ unsigned troupe_layout[6] = {sizeof(", all,
      "), "
      "sizeof(fixed_arguments), sizeof(matrix), ampere::shared_bytes, variant::part_rows, variant::part_columns};\n"
      "extern \"C\" __global__ void __launch_bounds__(",
      threads_of(c), ", ", c.blocks, ") ", variant_kernel, "(const __grid_constant__ ", all, " p) { ampere::run_block(",
      gathers ? "p.all, p" : "p, {}", "); }\n}\n");
}

}  // namespace troupe::cutlass
