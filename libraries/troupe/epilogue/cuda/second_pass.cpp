// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/epilogue/cuda/second_pass.hpp>
#include <troupe/epilogue/slots.hpp>

namespace troupe::epilogue {
namespace {

using kernel_arguments::lanes, kernel_arguments::warps;

constexpr std::int64_t most_blocks = 65535;  // limit of the second and third dimension of a grid

// Returns the shape with stride 0 along broadcast axes: a row is broadcast to all rows, a column to all columns, a
// number to both.
matrix_shape repeated(op what, matrix_shape s) noexcept {
  if (what == op::load_row || what == op::load_number) s.row_stride = 0;
  if (what == op::load_column || what == op::load_number) s.column_stride = 0;
  return s;
}

reduction_scope transposed(reduction_scope s, bool is_transposed) noexcept {
  if (!is_transposed || s == reduction_scope::all) return s;
  return s == reduction_scope::row ? reduction_scope::column : reduction_scope::row;
}

bool is_reducing(const tree& t) noexcept {
  return std::any_of(t.nodes().begin(), t.nodes().end(), [](const node& n) { return n.what == op::reduce; });
}

}  // namespace

second_pass::second_pass(const tree& t, const stored_product& on)
    : arguments_{.product = {0, 1, on.product_ld, on.product_stride, static_cast<std::uint64_t>(on.product_type)},
                 .result = {0, 1, on.result_ld, on.result_stride, static_cast<std::uint64_t>(on.result_type)},
                 .right = on.right,
                 .rows = on.rows,
                 .columns = on.columns,
                 .batch = on.batch,
                 .columns_of_block = 0,
                 .steps = static_cast<std::uint32_t>(t.nodes().size()),
                 .unused = 0,
                 .all = {},
                 .numbers = {},
                 .memory = {}},
      transposed_(on.transposed) {
  const slots where = slots_of(t.nodes(), [](op) { return true; }, false);
  const std::int64_t rows_of_block = lanes * choose_kernel(where.count, on.product_type);
  // Each block writes partial results of the reductions. Larger blocks leave fewer of them to combine.
  const std::int64_t usual = (is_reducing(t) ? 16 : 4) * std::int64_t{warps};
  const std::int64_t fewest = (on.columns + most_blocks - 1) / most_blocks;
  arguments_.columns_of_block = std::max(usual, (fewest + warps - 1) / warps * warps);
  blocks_ = {cuda::at_most((on.rows + rows_of_block - 1) / rows_of_block, 0x7fffffff),
             cuda::at_most((on.columns + arguments_.columns_of_block - 1) / arguments_.columns_of_block, most_blocks),
             cuda::at_most(on.batch, most_blocks)};
  for (std::size_t i = 0; i < t.nodes().size(); ++i) {
    const node& n = t.nodes()[i];
    kernel_arguments::step& s = arguments_.all[i];
    const bool is_product = n.what == op::accumulator || n.what == op::left || n.what == op::right;
    const bool is_zero = is_product && on.is_zero;
    s = {.what = is_zero ? op::number : n.what,
         .type = n.type,
         .combine = n.combine,
         .over = transposed(n.over, transposed_),
         .operand = is_zero ? static_cast<std::uint8_t>(most_numbers) : n.operand,
         .to = where.of[i],
         .arguments = {},
         .unused = {}};
    for (std::size_t a = 0; a < info(n.what).arguments; ++a) s.arguments[a] = where.of[n.arguments[a]];
    if (!has_memory(n.what)) continue;
    const memory_operand& m = t.memory()[n.operand];
    if (n.what == op::reduce) {
      add_reduction(n, m);
      continue;
    }
    const matrix_shape shape = repeated(n.what, m.shape);
    arguments_.memory[n.operand] = {0, transposed_ ? shape.column_stride : shape.row_stride,
                                    transposed_ ? shape.row_stride : shape.column_stride, m.batch_stride,
                                    static_cast<std::uint64_t>(m.type)};
  }
}

// Chooses the kernel. Returns how many elements each of its threads computes at a time.
unsigned second_pass::choose_kernel(unsigned slots, dtype product) {
  const bool wide = slots > kernel_arguments::ordinary_slots;
  ordinary_ = !wide;
  const auto choose = [&]<class N>(N, unsigned at_a_time) {
    kernel_ = wide ? cuda::kernel<"epilogue_wide", N> : cuda::kernel<"epilogue", N>;
    return wide ? 1 : at_a_time;
  };
  switch (product) {
    case dtype::f32:
      return choose(float{}, 4);
    case dtype::c64:
      return choose(complex64{}, 1);
    case dtype::c128:
      return choose(complex128{}, 1);
    default:  // f64; and i32, because a double holds each of its values
      return choose(double{}, 2);
  }
}

void second_pass::add_reduction(const node& n, const memory_operand& to) {
  const reduction_scope over = transposed(n.over, transposed_);
  const std::int64_t tiles = blocks_.x, groups = std::int64_t{blocks_.y} * warps;
  kernel_arguments::combine_arguments c{};
  c.batch = arguments_.batch;
  c.combine = n.combine;
  if (over == reduction_scope::row) {
    c.parts = groups, c.part_stride = arguments_.rows, c.count = arguments_.rows, c.result_stride = 1;
  } else {
    c.parts = over == reduction_scope::all ? tiles * arguments_.columns : tiles, c.part_stride = 1;
    c.count = over == reduction_scope::all ? 1 : arguments_.columns, c.result_stride = tiles;
  }
  c.batch_stride = over == reduction_scope::row ? groups * arguments_.rows : tiles * arguments_.columns;
  if (is_empty()) c.parts = c.batch_stride = 0;
  const std::int64_t stride = n.over == reduction_scope::row ? to.shape.row_stride : to.shape.column_stride;
  c.to = {0, stride, 0, to.batch_stride, static_cast<std::uint64_t>(to.type)};
  reductions_.push_back({c, memory_bytes_, n.operand, over == reduction_scope::all});
  memory_bytes_ += static_cast<std::uint64_t>(c.batch_stride * c.batch) * sizeof(double);
}

kernel_arguments::epilogue_pass second_pass::arguments_for(const tree& t, const addresses& at) const noexcept {
  kernel_arguments::epilogue_pass out = arguments_;
  out.product.address = at.product, out.result.address = at.result;
  std::copy(t.numbers().begin(), t.numbers().end(), out.numbers);
  for (std::size_t i = 0; i < t.memory().size(); ++i) out.memory[i].address = t.memory()[i].address;
  for (const reduction_pass& r : reductions_) out.memory[r.operand].address = at.memory + r.offset;
  return out;
}

}  // namespace troupe::epilogue
