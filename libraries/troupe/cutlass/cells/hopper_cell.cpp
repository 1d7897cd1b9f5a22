// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/cutlass/cells/functor.hpp>
#include <troupe/cutlass/cells/hopper_cell.hpp>

namespace troupe::cutlass {
namespace {

constexpr int threads = 384;

// The types in the name of the instruction: f32 is read as tf32.
std::string_view instruction_type(dtype t) noexcept {
  switch (t) {
    case dtype::f16:
      return "f16";
    case dtype::bf16:
      return "bf16";
    case dtype::f8e4m3:
      return "e4m3";
    case dtype::f8e5m2:
      return "e5m2";
    case dtype::i8:
      return "s8";
    default:
      return "tf32";
  }
}

// multiply(d, a, b, add): one instruction, for 64 lines of the first factor and all of the second.
std::string multiplication(const hopper_cell& c) {
  const int registers = c.tile_n / 2, terms = depth_of(c) / 4;
  const bool whole = c.first == dtype::i8, halves = bytes_of(c.first) == 2;
  std::string list, operands;
  for (int i = 0; i < registers; ++i) {
    list += cat(i == 0 ? "" : ", ", "%", i);
    operands += cat(i == 0 ? "" : ", ", whole ? "\"+r\"" : "\"+f\"", "(d[", i, "])");
  }
  return cat(
      "__device__ __forceinline__ void multiply(sums (&d)[", registers,
      "], unsigned long long a, unsigned long long b, bool add) {\n  asm volatile(\"{.reg .pred p;\\nsetp.ne.b32 p, %",
      registers + 2, ", 0;\\nwgmma.mma_async.sync.aligned.m64n", c.tile_n, "k", terms, whole ? ".s32." : ".f32.",
      instruction_type(c.first), ".", instruction_type(c.second), " {", list, "}, %", registers, ", %", registers + 1,
      whole ? ", p" : ", p, 1, 1", halves ? cat(", ", c.by_lines_1 ? 1 : 0, ", ", c.by_lines_2 ? 1 : 0) : "",
      ";}\"\n    : ", operands, "\n    : \"l\"(a), \"l\"(b), \"r\"(static_cast<int>(add)));\n}\n");
}

// Sums of a row that pass through shared memory at a time.
int staged_columns_of(const hopper_cell& c) noexcept {
  const int most = c.stages * (c.tile_m + c.tile_n) > 1500 ? 32 : 64;
  return c.tile_n % most == 0 ? most : c.tile_n % 32 == 0 ? 32 : 16;
}

}  // namespace

int depth_of(const hopper_cell& c) noexcept { return 128 / static_cast<int>(bytes_of(c.first)); }

int shared_bytes_of(const hopper_cell& c, bool) noexcept {
  return 1024 + c.stages * (c.tile_m + c.tile_n) * 128 +
         (c.staged ? 8 * 16 * (staged_columns_of(c) + 8) * 4 : 4 * 64 * 128);
}

std::string text_of(const hopper_cell& c, const std::string& tail) {
  const auto yes = [](bool b) { return b ? "true" : "false"; };
  const bool scaled = c.scales != dtype{};
  return cat(
      "#include <troupe/cutlass/templates/arguments.hpp>\n#include <troupe/cutlass/templates/numbers.cuh>\n"
      "#include <troupe/cutlass/templates/lines.cuh>\n#include <troupe/cutlass/templates/values.cuh>\n"
      "#include <troupe/cutlass/templates/hopper_instructions.cuh>\nnamespace troupe::cutlass::kernels {\n",
      tail, "namespace cell {\nusing sums = ", c.first == dtype::i8 ? "int" : "float",
      ";\nusing result = ", name_of_type(c.result),
      ";\nusing scale_type = ", name_of_type(scaled ? c.scales : dtype::f32), ";\nconstexpr int tile_m = ", c.tile_m,
      ", tile_n = ", c.tile_n, ", stages = ", c.stages, ", depth = ", depth_of(c), ", cluster_m = ", c.cluster_m,
      ", cluster_n = ", c.cluster_n, ", promoted = ", c.promoted, ", result_way = ", c.result_way,
      ", staged_columns = ", staged_columns_of(c),
      ", part_rows = 16, part_columns = tile_n / (tail::paired ? 2 : 1), column_scales = ",
      c.a_scale_for_each_column ? c.tile_n / 4 : 1, ";\nconstexpr bool ping_pong = ", yes(c.ping_pong),
      ", along_n = ", yes(c.along_n), ", by_lines_1 = ", yes(c.by_lines_1), ", by_lines_2 = ", yes(c.by_lines_2),
      ", divides = ", yes(c.divides), ", staged = ", yes(c.staged), ", scaled = ", yes(scaled), ";\n",
      multiplication(c),
      "}\n}\n#include <troupe/cutlass/templates/schedule.cuh>\n#include <troupe/cutlass/templates/results.cuh>\n"
      "#include <troupe/cutlass/templates/hopper.cuh>\n#ifdef TROUPE_REDUCES\n"
      "#include <troupe/cutlass/templates/combine.cuh>\n#endif\n"
      "namespace troupe::cutlass::kernels {\nextern \"C\" __constant__ unsigned troupe_layout[6] = {sizeof(tail::all), "
      "sizeof(fixed_part), sizeof(place), hopper::shared_bytes, cell::part_rows, cell::part_columns};\n"
      "extern \"C\" __global__ void __launch_bounds__(",
      threads, ", 1) ",
      c.cluster_m * c.cluster_n > 1 ? cat("__cluster_dims__(", c.cluster_m * c.cluster_n, ", 1, 1) ") : "",
      "troupe_cell(const __grid_constant__ tail::all p) { hopper::run_block(p); }\n}\n");
}

}  // namespace troupe::cutlass
