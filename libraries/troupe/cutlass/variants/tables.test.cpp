// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares the tables of docs/cutlass.md and docs/cutlass-convolutions.md, the instructions that products and
// convolutions of each kind use on each GPU, with what the engine chooses first.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <tests/support/page_table.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/ampere_plans.hpp>
#include <troupe/cutlass/variants/testing/layers.hpp>
#include <troupe/epilogue/epilogue.hpp>
#include <vector>

namespace troupe::cutlass {
namespace {

using namespace testing;

// Expects a row for each kind and a column for each architecture. `cell(kind, architecture, tree)` returns the text of
// a cell; `tree` is the epilogue of a plain product.
template <class Cell>
void expect_table(const std::string& page, std::span<const kind> rows, Cell&& cell) {
  const epilogue::expression plain = epilogue::product_part{epilogue::op::accumulator};
  std::vector<std::byte> encoded(plain.encoded_bytes());
  plain.encode(encoded.data());
  const epilogue::tree tree(encoded.data(), encoded.size());
  const troupe::testing::page_table table(TROUPE_SOURCES "/docs/" + page, "troupe_cutlass_variants_test");
  std::vector<std::string> head{table.rows[0].at(0)};
  for (const architecture& a : all_architectures) head.emplace_back(a.name);
  EXPECT_EQ(table.rows[0], head) << page;
  ASSERT_EQ(table.rows.size(), rows.size() + 1) << page;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::string> expected{rows[i].name};
    for (const architecture& a : all_architectures) expected.push_back(cell(rows[i], a, tree));
    EXPECT_EQ(table.rows[i + 1], expected) << page;
  }
}

std::string instructions_of(const kind& k, const architecture& on, bool has_contiguous_terms,
                            const epilogue::tree& tree) {
  const problem p = problem_of(k, has_contiguous_terms, tree);
  const kernel_signature f = signature_of(p);
  const auto found = candidates_for(f, {p.m, p.n, p.k, 1}, properties_of(on), {});
  if (!found) return "refused";
  const plan& best = found->front().plan;
  if (best.family == family::hopper) return "wgmma";
  return ampere_variant_of(signature_of_kernel(f, best), best).exact ? "arithmetic" : "mma";
}

TEST(cutlass_tables, the_page_has_the_instructions_of_products) {
  expect_table("cutlass.md", kinds, [](const kind& k, const architecture& a, const epilogue::tree& tree) {
    const std::string terms = instructions_of(k, a, true, tree), lines = instructions_of(k, a, false, tree);
    return cat(terms, terms == lines ? "" : cat(", by lines ", lines));
  });
}

std::string instructions_of(const kind& k, const architecture& on, computed_tensor r, const epilogue::tree& tree) {
  const convolution_problem p = problem_of(k, r, {}, tree);
  const auto candidates = convolution_candidates_for(p, properties_of(on), {});
  if (!candidates) return "refused";
  const convolution_candidate& best = candidates->front();
  if (best.plan.plan.family == family::hopper) return "wgmma";
  const auto work = work_of(p, best.choice, 0);
  return convolution_variant_of(work.value().signature, best.plan.plan).exact ? "arithmetic" : "mma";
}

TEST(cutlass_tables, the_page_has_the_instructions_of_convolutions) {
  expect_table("cutlass-convolutions.md", kinds_of_convolutions(),
               [](const kind& k, const architecture& a, const epilogue::tree& tree) {
                 const std::string y = instructions_of(k, a, computed_tensor::y, tree),
                                   dx = instructions_of(k, a, computed_tensor::dx, tree),
                                   dfilters = instructions_of(k, a, computed_tensor::dfilters, tree);
                 return y == dx && y == dfilters ? y : cat(y, ", ", dx, ", ", dfilters);
               });
}

}  // namespace
}  // namespace troupe::cutlass
