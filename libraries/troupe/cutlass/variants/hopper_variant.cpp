// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/epilogue_source.hpp>
#include <troupe/cutlass/variants/hopper_variant.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>

namespace troupe::cutlass {
namespace {

constexpr int barrier_bytes = 16;   // bytes of the barriers of a stage
constexpr int group_bytes = 4096;   // bytes of the sizes of groups
constexpr int broadcast_bytes = 4;  // bytes for each group of warps, if tiles are divided

// Returns the name of a type in instructions: f32 is read as tf32.
std::string_view instruction_type(dtype t) noexcept {
  return t == dtype::f32 ? "tf32" : t == dtype::i8 ? "s8" : name_of_type(t);
}

// Returns the function multiply(d, a, b, add): one instruction, for 64 lines of the first factor and `width_of` lines
// of the second. For mixed factors there is an overload with the first factor in registers.
std::string multiplication(const hopper_variant& c) {
  const bool mixed = c.is_mixed();
  const dtype first = mixed ? c.second : c.first;
  const int registers = width_of(c) / 2, terms = 32 / static_cast<int>(bytes_of(first));
  const bool integers = first == dtype::i8, halves = bytes_of(first) == 2;
  std::string list, operands;
  for (int i = 0; i < registers; ++i) {
    list += cat(i == 0 ? "" : ", ", "%", i);
    operands += cat(i == 0 ? "" : ", ", integers ? "\"+r\"" : "\"+f\"", "(d[", i, "])");
  }
  const auto text = [&](bool in_registers) {
    const int a = registers, b = a + (in_registers ? 4 : 1), add = b + 1;
    return cat("__device__ __forceinline__ void multiply(sums (&d)[", registers, "], ",
               in_registers ? "const unsigned (&a)[4]" : "unsigned long long a",
               ", unsigned long long b, bool add) {\n  asm volatile(\"{.reg .pred p;\\nsetp.ne.b32 p, %", add,
               ", 0;\\nwgmma.mma_async.sync.aligned.m64n", width_of(c), "k", terms, integers ? ".s32." : ".f32.",
               instruction_type(first), ".", instruction_type(c.second), " {", list, "}, ",
               in_registers ? cat("{%", a, ", %", a + 1, ", %", a + 2, ", %", a + 3, "}") : cat("%", a), ", %", b,
               integers ? ", p" : ", p, 1, 1", halves && !in_registers ? (c.by_lines_1 ? ", 1" : ", 0") : "",
               halves ? (c.by_lines_2 ? ", 1" : ", 0") : "", ";}\"\n    : ", operands,
               "\n    : ", in_registers ? "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])" : "\"l\"(a)",
               ", \"l\"(b), \"r\"(static_cast<int>(add)));\n}\n");
  };
  return mixed ? text(false) + text(true) : text(false);
}

// Returns the bytes of a line of the first factor in a stage.
int line_bytes_of(const hopper_variant& c) noexcept {
  return c.is_mixed() ? depth_of(c) / (c.first == dtype::f4e2m1x2 ? 2 : 1) : 128;
}

// Returns the registers of a thread of the group that copies. The groups of a block have 504 registers for three
// threads.
int producer_registers_of(const hopper_variant& c) noexcept {
  if (c.groups != 2) return 32;
  return c.convolution == convolution_kind::none                           ? 40
         : c.convolution == convolution_kind::weight_gradient && c.divides ? 56
                                                                           : 72;
}
int consumer_registers_of(const hopper_variant& c) noexcept {
  return c.groups != 2 ? 112 : (504 - producer_registers_of(c)) / 2;
}

// Returns the number of sums of a row that are staged in shared memory at a time.
int staged_columns_of(const hopper_variant& c) noexcept {
  const int most = c.stages * (c.tile_m + c.tile_n) > 1500 ? 32 : 64;
  return c.tile_n % most == 0 ? most : c.tile_n % 32 == 0 ? 32 : 16;
}

// Returns the bytes of shared memory in which sums or results are staged.
int staging_bytes_of(const hopper_variant& c) noexcept {
  if (c.crossed) return c.groups * (c.tile_n % 64 == 0 ? 64 : c.tile_n % 32 == 0 ? 32 : 16) * (64 + 4) * 4;
  return c.staged ? c.groups * 4 * 16 * (staged_columns_of(c) + 8) * 4 : 4 * 64 * 128;
}

}  // namespace

int threads_of(const hopper_variant& c) noexcept { return (c.groups + 1) * 128; }

int depth_of(const hopper_variant& c) noexcept {
  return c.is_mixed() ? 64 * c.slices : 128 / static_cast<int>(bytes_of(c.first));
}

// A thread holds promoted sums of an instruction in registers twice, before and after the addition to floats. So large
// tiles are divided into two instructions.
int width_of(const hopper_variant& c) noexcept {
  return c.promoted > 0 && c.tile_n > 160 && !c.is_mixed() ? c.tile_n / 2 : c.tile_n;
}

int shared_bytes_of(const hopper_variant& c) noexcept {
  return 1024 + c.stages * (c.tile_m * line_bytes_of(c) + c.tile_n * 128 * c.slices) + staging_bytes_of(c);
}

bool can_be(const hopper_variant& c, bool paired, std::int64_t shared_bytes) noexcept {
  const int pieces_1 = c.cluster_n, pieces_2 = std::max(c.cluster_m, paired && !c.crossed ? 2 : 1);
  const int fixed =
      barrier_bytes * c.stages + (c.grouped ? group_bytes : 0) + (c.divides ? broadcast_bytes * c.groups : 0);
  if (shared_bytes_of(c) + fixed > shared_bytes || c.stages < 2) return false;
  // A piece that is copied separately has a multiple of the lines that are swizzled together.
  if (c.tile_m % (pieces_1 * (c.by_lines_1 ? 64 : 8)) != 0 || c.tile_n % (pieces_2 * (c.by_lines_2 ? 64 : 8)) != 0)
    return false;
  if (!c.staged && c.tile_n % 64 != 0) return false;
  if (paired && !c.crossed && c.tile_n % 32 != 0) return false;
  // Registers hold the sums of a thread, twice if they are promoted, and the widened elements.
  const int blocks = c.tile_m / 64 / (c.ping_pong || c.splits_k ? 1 : c.groups), sums = blocks * c.tile_n / 2;
  if (blocks < 1 || sums > 128) return false;
  // The strides of a convolution's result need some of the registers of promoted sums.
  if (c.strided_result && c.promoted > 0 && sums == 128) return false;
  if (c.is_mixed()) {
    const int line = line_bytes_of(c), most_columns = c.promoted == 0  ? 64
                                                      : c.promoted < 4 ? 16
                                                                       : 32;  // limit of registers with four groups
    // The assembler spills registers of these kernels.
    if (c.divides && (c.tile_n == 160 || c.tile_n == 224 || (c.ping_pong && c.promoted > 0))) return false;
    // Two tiles with promoted sums leave no registers for a matrix of the epilogue.
    if (c.ping_pong && c.promoted > 0 && sums == 64 && c.loads) return false;
    // The code is repeated for each slice of a stage, and would be too long.
    if (c.slices > 2 && ((c.promoted > 0 && c.promoted < 4) || c.second_scales != dtype{})) return false;
    if (c.scale_for_each_column && c.tile_n > 64) return false;
    // A group that splits k always uses the same stages, so that no other group releases one of them; it needs two of
    // them, because it reads ahead.
    if (c.splits_k &&
        (c.stages % c.groups != 0 || c.stages < 2 * c.groups || staging_bytes_of(c) / c.groups < c.tile_n * 64 * 4))
      return false;
    // Terms that share a scale are in one stage.
    return blocks == 1 && (c.groups == 2 || (c.tile_n <= most_columns && !c.ping_pong)) &&
           c.slices * 4 >= std::max(c.promoted, c.scaled_numbers) && (line == 32 || line == 64 || line == 128) &&
           sums * (c.promoted > 0 ? 2 : 1) <= 128;
  }
  return c.promoted == 0 || sums + blocks * width_of(c) / 2 <= 192;
}

std::string text_of(const hopper_variant& c, const std::string& epilogue_text) {
  const auto yes = [](bool b) { return b ? "true" : "false"; };
  const auto scale_type = [](dtype t) { return t == dtype{} ? std::string_view("f32") : name_of_type(t); };
  const bool scaled = c.first_scales != dtype{} || c.second_scales != dtype{},
             gathers = c.convolution != convolution_kind::none, mixed = c.is_mixed();
  const std::string_view all = gathers ? "all_with_convolution" : "kernel_epilogue::all";
  return cat(
      c.grouped ? "#define TROUPE_GROUPS\n" : "",
      "#include <troupe/cutlass/templates/arguments.hpp>\n#include <troupe/cutlass/templates/numbers.cuh>\n"
      "#include <troupe/cutlass/templates/lines.cuh>\n#include <troupe/cutlass/templates/values.cuh>\n"
      "#include <troupe/cutlass/templates/hopper_instructions.cuh>\nnamespace troupe::cutlass::kernels {\n",
      epilogue_text, "namespace variant {\nusing sums = ", c.first == dtype::i8 && !mixed ? "int" : "float",
      ";\nusing first = ", name_of_type(c.first), ";\nusing second = ", name_of_type(c.second),
      ";\nusing result = ", name_of_type(c.result), ";\nusing scale_type_1 = ", scale_type(c.first_scales),
      ";\nusing scale_type_2 = ", scale_type(c.second_scales), ";\n[[maybe_unused]] constexpr int tile_m = ", c.tile_m,
      ", tile_n = ", c.tile_n, ", width = ", width_of(c), ", stages = ", c.stages, ", depth = ", depth_of(c),
      ", cluster_m = ", c.cluster_m, ", cluster_n = ", c.cluster_n, ", promoted = ", c.promoted,
      ", result_access = ", c.result_access, ", staged_columns = ", staged_columns_of(c),
      ", registers_to_add = ", c.groups == 2 ? 64 : 32,
      ", part_rows = 16, part_columns = ", c.crossed ? "64" : "tile_n",
      " / (kernel_epilogue::paired ? 2 : 1), groups = ", c.groups, ", scaled_numbers = ", c.scaled_numbers,
      ", column_scales = ", c.scale_for_each_column ? width_of(c) / 4 : 1, ", slices = ", c.slices,
      ", line_bytes = ", line_bytes_of(c), ", in_unit_1 = ", c.first == dtype::f4e2m1x2 ? 2 : 1,
      ", producer_registers = ", producer_registers_of(c), ", consumer_registers = ", consumer_registers_of(c),
      ";\n[[maybe_unused]] constexpr bool mixed = ", yes(mixed), ", crossed = ", yes(c.crossed),
      ", splits_k = ", yes(c.splits_k), ", scaled_1 = ", yes(c.first_scales != dtype{}),
      ", scaled_2 = ", yes(c.second_scales != dtype{}), ", ping_pong = ", yes(c.ping_pong),
      ", by_lines_1 = ", yes(c.by_lines_1), ", by_lines_2 = ", yes(c.by_lines_2), ", divides = ", yes(c.divides),
      ", staged = ", yes(c.staged), ", scaled = ", yes(scaled), ";\n",
      gathers ? cat("constexpr int rank = ", c.rank, ";\nconstexpr bool strided = ", yes(c.strided_result),
                    ", k_is_positions = ", yes(c.convolution == convolution_kind::weight_gradient), ";\n")
              : "",
      multiplication(c),
      "}\n}\n#include <troupe/cutlass/templates/schedule.cuh>\n#include <troupe/cutlass/templates/results.cuh>\n"
      "#include <troupe/cutlass/templates/divided_tiles.cuh>\n",
      gathers ? "#include <troupe/cutlass/templates/window_locations.cuh>\n" : "",
      "namespace troupe::cutlass::kernels::hopper {\nusing row_map = ",
      c.strided_result ? "image_rows" : "results::straight", ";\n}\n#include <troupe/cutlass/templates/hopper.cuh>\n",
      gathers ? "#include <troupe/cutlass/templates/hopper_windows.cuh>\n" : "",
      mixed ? "#include <troupe/cutlass/templates/hopper_mixed.cuh>\n" : "",
      c.staged ? "" : "#include <troupe/cutlass/templates/hopper_boxes.cuh>\n",
      "#ifdef TROUPE_REDUCES\n"
      "#include <troupe/cutlass/templates/combine.cuh>\n#endif\n"
      "namespace troupe::cutlass::kernels {\nextern \"C\" __constant__ unsigned troupe_layout[6] = {sizeof(",
      all,
      "), "
      "sizeof(fixed_arguments), sizeof(matrix), hopper::shared_bytes, variant::part_rows, variant::part_columns};\n"
      "extern \"C\" __global__ void __launch_bounds__(",
      threads_of(c), ", 1) ",
      c.cluster_m * c.cluster_n > 1 ? cat("__cluster_dims__(", c.cluster_m * c.cluster_n, ", 1, 1) ") : "",
      variant_kernel, "(const __grid_constant__ ", all, " p) { hopper::run_block(", gathers ? "p.all, p" : "p",
      "); }\n}\n");
}

}  // namespace troupe::cutlass
