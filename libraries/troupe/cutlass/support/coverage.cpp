// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Prints the table of docs/cutlass.md: which template multiplies which types on which GPU. It asks what the engine
// asks.
#include <troupe/cutlass/cells/ampere_plans.hpp>
#include <troupe/cutlass/support/table.hpp>

namespace troupe::cutlass {
namespace {

using namespace support;

std::string answer(const kind& k, const architecture& on, bool terms_are_neighbours, const epilogue::tree& tree) {
  const chip c = chip_of(on);
  const problem p = problem_of(k, terms_are_neighbours, tree);
  const whole_form f = form_of(p);
  const auto found = candidates_for(f, {p.m, p.n, p.k, 1}, c, {});
  if (!found) return "refused";
  const plan& best = found->front().plan;
  if (best.family == family::hopper) return "wgmma";
  return ampere_cell_of(form_of_kernel(f, best), best).exact ? "arithmetic" : "mma";
}

void print() {
  print_table("A, B", kinds, [](const kind& k, const architecture& a, const epilogue::tree& tree) {
    const std::string terms = answer(k, a, true, tree), lines = answer(k, a, false, tree);
    return cat(terms, terms == lines ? "" : cat(", by lines ", lines));
  });
}

}  // namespace
}  // namespace troupe::cutlass

int main() { troupe::cutlass::print(); }
