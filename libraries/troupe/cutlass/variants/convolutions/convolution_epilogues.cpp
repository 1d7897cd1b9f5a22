// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_epilogues.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::node, epilogue::op, epilogue::memory_operand;

bool has_reductions(const epilogue::tree& t) noexcept {
  return std::any_of(t.nodes().begin(), t.nodes().end(), [](const node& n) { return n.what == op::reduce; });
}

// Returns the first node whose operand is memory number `memory`.
const node& node_of_memory(const epilogue::tree& t, std::size_t memory) noexcept {
  const auto all = t.nodes();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const node& n) { return epilogue::has_memory(n.what) && n.operand == memory; });
  return found == all.end() ? all.front() : *found;
}

// Returns true if the positions of each operand have one stride through all images.
bool has_stride_through_images(const convolution_problem& p) noexcept {
  const std::int64_t positions = p.result == computed_tensor::y ? p.positions() : p.image_size();
  for (std::size_t i = 0; i < p.tree.memory().size(); ++i) {
    const memory_operand& m = p.tree.memory()[i];
    const std::int64_t row = is_tall(node_of_memory(p.tree, i)) ? m.shape.row_stride : 0;
    if (p.images > 1 && m.batch_stride != row * positions) return false;
  }
  return true;
}

}  // namespace

std::int64_t remainders(const convolution_problem& p, std::size_t i) noexcept { return std::min(p.stride[i], p.in[i]); }
std::int64_t launches_of(const convolution_problem& p) noexcept {
  if (p.result != computed_tensor::dx) return 1;
  return remainders(p, 0) * remainders(p, 1) * remainders(p, 2);
}

bool has_order_of_taps(const grouped_tensor& filters) noexcept {
  std::int64_t last = 0;
  if (filters.channels != 1) last = filters.channel;
  for (std::size_t i = 0; i < grouped_tensor::spatial_axes; ++i) {
    if (filters.spatial_extents[i] == 1) continue;
    if (filters.spatial_strides[i] < last) return false;
    last = filters.spatial_strides[i];
  }
  return true;
}

epilogue_plan epilogue_plan_of(const convolution_problem& p) noexcept {
  epilogue_plan out;
  const bool reduces = has_reductions(p.tree), several = p.groups > 1;
  out.is_separate = (reduces && (several || launches_of(p) > 1)) || (p.paired && several);
  if (is_gradient_of_filters(p)) {
    out.is_separate = out.is_separate || (!p.tree.memory().empty() && !has_order_of_taps(filters_of(p)));
    return out;
  }
  const bool needs_images = p.images > 1 && (reduces || !has_stride_through_images(p));
  out.is_separate = out.is_separate || (needs_images && several);
  out.by_images = needs_images && !out.is_separate;
  return out;
}

std::vector<std::byte> plain_tree() {
  const node sum{.what = op::accumulator};
  return epilogue::encode_tree({&sum, 1}, {}, {});
}

std::vector<std::byte> tree_of_products(const convolution_problem& p, std::int64_t columns_of_group) {
  const epilogue::tree& t = p.tree;
  std::vector<memory_operand> memory(t.memory().begin(), t.memory().end());
  const bool by_images = epilogue_plan_of(p).by_images;
  for (std::size_t i = 0; i < memory.size() && !by_images; ++i) {
    const node& n = node_of_memory(t, i);
    memory_operand& m = memory[i];
    const std::int64_t stride_of_filters = is_tall(n) ? p.filters_of_group * m.shape.row_stride : 0,
                       stride_of_columns = is_wide(n) ? columns_of_group * m.shape.column_stride : 0;
    m.batch_stride = p.groups == 1 ? 0 : is_gradient_of_filters(p) ? stride_of_filters : stride_of_columns;
  }
  return epilogue::encode_tree(t.nodes(), t.numbers(), memory);
}

result<std::vector<std::byte>> tree_of_sums(const convolution_problem& p, std::uint64_t sums, std::int64_t rows,
                                            std::int64_t row) {
  const epilogue::tree& t = p.tree;
  const std::int64_t columns = p.paired ? row / 2 : row;
  std::vector<node> nodes(t.nodes().begin(), t.nodes().end());
  std::vector<memory_operand> memory(t.memory().begin(), t.memory().end());
  const std::size_t first = memory.size();
  for (int half = 0; half < (p.paired ? 2 : 1); ++half) {
    memory_operand m{};
    m.address = sums + static_cast<std::uint64_t>(half * columns) * bytes_of(p.sums);
    m.shape = {rows, columns, row, 1};
    m.batch_stride = is_gradient_of_filters(p) ? 0 : rows * row;
    m.type = p.sums, m.mode = access_mode::read;
    memory.push_back(m);
  }
  if (memory.size() > epilogue::most_memory)
    return error(reaction::unsupported, "cutlass",
                 cat("epilogue has ", first, " operands in memory, expected at most ",
                     first + epilogue::most_memory - memory.size(),
                     " for a convolution with groups or a stride whose epilogue has reductions or pairs: use fewer "
                     "operands, or another request for some of them"));
  for (node& n : nodes) {
    if (n.what != op::accumulator && n.what != op::left && n.what != op::right) continue;
    node load{.what = op::load};
    load.operand = static_cast<std::uint8_t>(first + (n.what == op::right ? 1 : 0));
    n = load;
  }
  return epilogue::encode_tree(nodes, t.numbers(), memory);
}

}  // namespace troupe::cutlass
