// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiles the kernels that the engine chooses first, for the tables of docs/cutlass.md and
// docs/cutlass-convolutions.md on all GPUs, and expects no remark of the assembler. There are about 2,000 kernels, in
// `parts` parts: a run compiles one part, and another part after each change of the templates. TROUPE_KERNELS=7
// compiles part 7, TROUPE_TESTS=all compiles all parts.
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <set>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/variants/testing/kernel_compilation.hpp>
#include <troupe/cutlass/variants/testing/layers.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::node, epilogue::op, epilogue::memory_operand;

constexpr std::uint64_t parts = 32;

// The epilogues: the product itself; the product plus a matrix; one half gated by the other; one and three reductions.
enum class epilogue_kind { plain, with_matrix, gated, sums_of_rows, three_reductions };
constexpr std::pair<epilogue_kind, const char*> epilogue_kinds[] = {
    {epilogue_kind::plain, "plain"},
    {epilogue_kind::with_matrix, "adding a matrix"},
    {epilogue_kind::gated, "gated"},
    {epilogue_kind::sums_of_rows, "with sums of rows"},
    {epilogue_kind::three_reductions, "with three reductions"}};

// Returns an encoded epilogue, whose matrices have n columns.
std::vector<std::byte> epilogue_of(epilogue_kind f, std::int64_t n) {
  const auto memory_of = [](dtype t, const matrix_shape& shape, access_mode mode) {
    return memory_operand{1 << 20, shape, 0, t, mode, {}};
  };
  const auto node_of = [](op what, std::uint8_t first = 0, std::uint8_t second = 0, std::uint8_t operand = 0) {
    node out{.what = what, .operand = operand};
    out.arguments[0] = first, out.arguments[1] = second;
    return out;
  };
  std::vector<node> nodes{node_of(op::accumulator)};
  std::vector<memory_operand> memory;
  const auto reduce = [&](epilogue::reduction_scope over, epilogue::reduction how, const matrix_shape& shape) {
    node r =
        node_of(op::reduce, static_cast<std::uint8_t>(nodes.size() - 1), 0, static_cast<std::uint8_t>(memory.size()));
    r.over = over, r.combine = how;
    nodes.push_back(r);
    memory.push_back(memory_of(dtype::f32, shape, access_mode::write));
  };
  if (f == epilogue_kind::with_matrix) {
    nodes.insert(nodes.end(), {node_of(op::load), node_of(op::add, 0, 1)});
    memory.push_back(memory_of(dtype::bf16, {n, n, n, 1}, access_mode::read));
  } else if (f == epilogue_kind::gated) {
    nodes = {node_of(op::left), node_of(op::right), node_of(op::silu), node_of(op::multiply, 2, 1)};
  } else if (f != epilogue_kind::plain) {
    reduce(epilogue::reduction_scope::row, epilogue::reduction::sum, {n, 1, 1, 1});
    if (f == epilogue_kind::three_reductions) {
      reduce(epilogue::reduction_scope::column, epilogue::reduction::sum, {1, n, n, 1});
      reduce(epilogue::reduction_scope::all, epilogue::reduction::absolute_maximum, {1, 1, 1, 1});
    }
  }
  return epilogue::encode_tree(nodes, {}, memory);
}

// Returns a product, or 8 consecutive groups of rows.
problem product_of(const testing::kind& k, bool has_contiguous_terms, bool grouped, const epilogue::tree& tree) {
  problem p = testing::problem_of(k, has_contiguous_terms, tree);
  p.paired = tree.is_paired();
  if (p.paired && !has_contiguous_terms) p.b.term = 2 * p.n;
  if (!grouped) return p;
  p.batch = 8, p.groups = {1 << 20, true}, p.b.batch = p.n * p.k;
  if (p.b_scales.address != 0) p.b_scales.batch_stride = p.n * p.k / k.terms;
  return p;
}

// Returns the index of the part to compile, or `parts` for all.
std::uint64_t part_to_compile() {
  if (troupe::testing::runs_all_cases()) return parts;
  const char* const asked = std::getenv("TROUPE_KERNELS");
  if (asked == nullptr || *asked == '\0') return version_of_templates() % parts;
  const std::string_view text = asked;
  std::uint64_t part = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), part);
  if (wrong != std::errc{} || end != text.data() + text.size() || part >= parts) {
    ADD_FAILURE() << "TROUPE_KERNELS is \"" << text << "\"; expected a part: 0 to " << parts - 1;
    return 0;
  }
  return part;
}

class cutlass_first_choices : public testing::kernel_compilation, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override { compile_for(on().capability); }
  void TearDown() override {
    EXPECT_GT(compiled_, 0) << "part " << part_ << " has no kernel for this GPU";
    std::cout << on().name << ": compiled " << compiled_ << " of " << texts_.size() << " kernels, "
              << (part_ == parts ? "all" : cat("part ", part_, " of ", parts)) << "\n";
  }
  const testing::architecture& on() const { return testing::all_architectures[GetParam()]; }
  void expect_clean_choice(const std::string& source, const std::string& name) {
    if (!texts_.insert(source).second) return;
    // For each GPU, a part has kernels of other rows of the table.
    if (part_ != parts && (texts_.size() + 5 * static_cast<std::size_t>(GetParam())) % parts != part_) return;
    ++compiled_;
    expect_clean_always(source, name);
  }

 private:
  const std::uint64_t part_ = part_to_compile();
  std::set<std::string> texts_;
  int compiled_ = 0;
};

TEST_P(cutlass_first_choices, products_compile_without_spills) {
  for (const testing::kind& k : testing::kinds)
    for (const bool terms : {true, false})
      for (const auto& [kind, name] : epilogue_kinds)
        for (const bool grouped : {false, true}) {
          const std::vector<std::byte> encoded = epilogue_of(kind, 1024);
          const problem p = product_of(k, terms, grouped, epilogue::tree(encoded.data(), encoded.size()));
          const kernel_signature whole = signature_of(p);
          const auto found = candidates_for(whole, {p.m, p.n, p.k, p.batch}, testing::properties_of(on()), {});
          ASSERT_TRUE(found) << found.error().text();
          const variant_source text = source_of_variant(whole, found->front().plan);
          expect_clean_choice(text.source, cat(on().name, " ", grouped ? "groups of " : "", k.name, " ", name,
                                               terms ? ": " : " by lines: ", text.name));
        }
}

TEST_P(cutlass_first_choices, convolutions_compile_without_spills) {
  const std::vector<std::byte> plain = epilogue_of(epilogue_kind::plain, 1);
  const epilogue::tree tree(plain.data(), plain.size());
  const auto expect_clean_layer = [&](const testing::kind& k, computed_tensor r, const testing::layer& l) {
    const convolution_problem p = problem_of(k, r, l, tree);
    const auto candidates = convolution_candidates_for(p, testing::properties_of(on()), {});
    ASSERT_TRUE(candidates) << candidates.error().text();
    const convolution_candidate& best = candidates->front();
    const auto work = work_of(p, best.choice, 0);
    ASSERT_TRUE(work) << work.error().text();
    expect_clean_choice(source_of_variant(work->signature, best.plan.plan).source,
                        cat(on().name, " ", k.name, " ", to_string(r), l.large ? ", large" : "",
                            l.has_contiguous_channels ? "" : ", contiguous positions", ", stride ", l.stride, ", to ",
                            to_string(l.computed), ": ", to_string(best)));
  };
  for (const testing::kind& k : testing::kinds_of_convolutions())
    for (const computed_tensor r : {computed_tensor::y, computed_tensor::dx, computed_tensor::dfilters})
      for (const bool has_contiguous_channels : {true, false})
        for (const std::int64_t stride : {1, 2}) {
          expect_clean_layer(k, r, {has_contiguous_channels, stride, dtype::bf16});
          expect_clean_layer(k, r, {has_contiguous_channels, stride, sums_of(k.a, k.b)});
          expect_clean_layer(k, r, {has_contiguous_channels, stride, dtype::bf16, true});
        }
}

INSTANTIATE_TEST_SUITE_P(each, cutlass_first_choices, ::testing::Range(0, 6),
                         [](const auto& info) { return std::string(testing::all_architectures[info.param].name); });

}  // namespace
}  // namespace troupe::cutlass
