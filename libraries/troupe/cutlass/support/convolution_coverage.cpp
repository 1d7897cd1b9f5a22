// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/cutlass-convolutions.md: which template computes convolutions of which types on which GPU.
// It asks what the engine asks.
#include <troupe/cutlass/cells/convolution_choices.hpp>
#include <troupe/cutlass/support/table.hpp>

namespace troupe::cutlass {
namespace {

using namespace support;

// 64 images of 28 x 28 whose channels are neighbours, with filters of 3 x 3.
convolution_problem layer(const kind& k, convolution_result r, const epilogue::tree& tree) {
  constexpr std::int64_t side = 28, width = 3, in = 64, out = 128;
  convolution_problem p;
  p.result = r, p.images = 64, p.channels = in, p.outputs = out, p.sums = sums_of(k.a, k.b), p.precision = k.how;
  for (const std::size_t i : {1, 2}) p.window.set(i, side, side, width, {1, 1, 1, 1});
  const auto placed = [](dtype t, std::int64_t channels, std::int64_t extent) {
    return placed_tensor{1 << 20, t, extent * extent * channels, 1, {0, extent * channels, channels}};
  };
  // The first factor is x, or dy; the second the filters, or x. The result is narrow.
  const dtype result = dtype::bf16;
  p.x = placed(r == convolution_result::y ? k.a : r == convolution_result::dx ? result : k.b, in, side);
  p.filters = placed(r == convolution_result::dfilters ? result : k.b, in, width);
  p.y = placed(r == convolution_result::y ? result : k.a, out, side);
  p.tree = tree;
  return p;
}

std::string answer(const kind& k, const architecture& on, convolution_result r, const epilogue::tree& tree) {
  const convolution_problem p = layer(k, r, tree);
  const auto ways = ways_for(p, chip_of(on), {});
  if (!ways) return "refused";
  const convolution_way& best = ways->front();
  if (best.plan.plan.family == family::hopper) return "wgmma";
  const auto work = work_of(p, best.choice, 0);
  return convolution_cell_of(work.value().form, best.plan.plan).exact ? "arithmetic" : "mma";
}

void print() {
  std::vector<kind> of_convolutions;
  for (const kind& k : kinds)  // scales are none of a convolution's
    if (k.b != dtype::f4e2m1x2 && (k.terms == 0 || k.a != k.b)) of_convolutions.push_back(k);
  print_table("types", of_convolutions, [](const kind& k, const architecture& a, const epilogue::tree& tree) {
    const std::string y = answer(k, a, convolution_result::y, tree), dx = answer(k, a, convolution_result::dx, tree),
                      dfilters = answer(k, a, convolution_result::dfilters, tree);
    return y == dx && y == dfilters ? y : cat(y, ", ", dx, ", ", dfilters);
  });
}

}  // namespace
}  // namespace troupe::cutlass

int main() { troupe::cutlass::print(); }
