// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/cutlass-convolutions.md: the instructions that convolutions of each kind use on each GPU,
// according to the engine's own functions.
#include <troupe/cutlass/support/layers.hpp>
#include <troupe/cutlass/support/table.hpp>

namespace troupe::cutlass {
namespace {

using namespace support;

std::string instructions_of(const kind& k, const architecture& on, convolution_result r, const epilogue::tree& tree) {
  const convolution_problem p = problem_of(k, r, {}, tree);
  const auto candidates = convolution_candidates_for(p, properties_of(on), {});
  if (!candidates) return "refused";
  const convolution_candidate& best = candidates->front();
  if (best.plan.plan.family == family::hopper) return "wgmma";
  const auto work = work_of(p, best.choice, 0);
  return convolution_variant_of(work.value().signature, best.plan.plan).exact ? "arithmetic" : "mma";
}

void print() {
  print_table("types", kinds_of_convolutions(), [](const kind& k, const architecture& a, const epilogue::tree& tree) {
    const std::string y = instructions_of(k, a, convolution_result::y, tree),
                      dx = instructions_of(k, a, convolution_result::dx, tree),
                      dfilters = instructions_of(k, a, convolution_result::dfilters, tree);
    return y == dx && y == dfilters ? y : cat(y, ", ", dx, ", ", dfilters);
  });
}

}  // namespace
}  // namespace troupe::cutlass

int main() { troupe::cutlass::print(); }
