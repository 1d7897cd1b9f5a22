// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/cuda/plans/timing_run.hpp>

namespace troupe::cutlass {
namespace {

using cuda::byte_interval_of, cuda::timed_operand;

timed_operand operand_of(factor& f, std::int64_t lines, std::int64_t terms, std::int64_t batch) noexcept {
  return {&f.address, byte_interval_of({{lines, f.line}, {terms, f.term}, {batch, f.batch}}, f.type), true};
}
timed_operand operand_of(placed_tensor& t, std::int64_t items, std::int64_t channels, const std::int64_t* extents,
                         bool read) noexcept {
  return {&t.address,
          byte_interval_of({{items, t.item},
                            {channels, t.channel},
                            {extents[0], t.spatial[0]},
                            {extents[1], t.spatial[1]},
                            {extents[2], t.spatial[2]}},
                           t.type),
          read};
}
void add_all(std::vector<timed_operand>& to, std::vector<epilogue::memory_operand>& tree_operands, std::int64_t batch) {
  for (epilogue::memory_operand& m : tree_operands)
    to.push_back(
        {&m.address,
         byte_interval_of(
             {{m.shape.rows, m.shape.row_stride}, {m.shape.columns, m.shape.column_stride}, {batch, m.batch_stride}},
             m.type),
         m.mode == access_mode::read});
}

}  // namespace

std::vector<timed_operand> operands_of(problem& p, std::vector<epilogue::memory_operand>& tree_operands) {
  std::vector<timed_operand> out{
      operand_of(p.a, p.m, p.k / matmul::k_per_element(p.a.type), p.batch),
      operand_of(p.b, p.n * (p.paired ? 2 : 1), p.k / matmul::k_per_element(p.b.type), p.batch),
      {&p.d.address, byte_interval_of({{p.m, p.d.row}, {p.n, p.d.column}, {p.batch, p.d.batch}}, p.d.type), false}};
  add_all(out, tree_operands, p.batch);
  return out;
}

std::vector<timed_operand> operands_of(convolution_problem& p, std::vector<epilogue::memory_operand>& tree_operands) {
  // The result of a paired epilogue has half of the channels.
  const auto divisor = [&](computed_tensor r) { return p.paired && p.result == r ? 2 : 1; };
  const bool filters = p.result == computed_tensor::dfilters;
  std::vector<timed_operand> out{
      operand_of(p.x, p.images, p.groups * p.channels_of_group / divisor(computed_tensor::dx), p.in,
                 p.result != computed_tensor::dx),
      operand_of(p.filters, p.groups * p.filters_of_group, p.channels_of_group, p.window, !filters),
      operand_of(p.y, p.images, p.groups * p.filters_of_group / divisor(computed_tensor::y), p.out,
                 p.result != computed_tensor::y)};
  add_all(out, tree_operands, filters ? 1 : p.images);
  return out;
}

}  // namespace troupe::cutlass
