// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/cutlass.md: the instructions that products of each kind use on each GPU, according to the
// engine's own functions.
#include <troupe/cutlass/support/table.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>

namespace troupe::cutlass {
namespace {

using namespace support;

std::string instructions_of(const kind& k, const architecture& on, bool has_contiguous_terms,
                            const epilogue::tree& tree) {
  const cuda::gpu_properties gpu = properties_of(on);
  const problem p = problem_of(k, has_contiguous_terms, tree);
  const kernel_signature f = signature_of(p);
  const auto found = candidates_for(f, {p.m, p.n, p.k, 1}, gpu, {});
  if (!found) return "refused";
  const plan& best = found->front().plan;
  if (best.family == family::hopper) return "wgmma";
  return ampere_variant_of(signature_of_kernel(f, best), best).exact ? "arithmetic" : "mma";
}

void print() {
  print_table("A, B", kinds, [](const kind& k, const architecture& a, const epilogue::tree& tree) {
    const std::string terms = instructions_of(k, a, true, tree), lines = instructions_of(k, a, false, tree);
    return cat(terms, terms == lines ? "" : cat(", by lines ", lines));
  });
}

}  // namespace
}  // namespace troupe::cutlass

int main() { troupe::cutlass::print(); }
