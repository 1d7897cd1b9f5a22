// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The kernels that the engine chooses first, for the tables of docs/cutlass.md and docs/cutlass-convolutions.md on all
// GPUs, compile, and the assembler has nothing to remark of them. There are some 2,000: a run compiles one of `parts`
// parts, another one after each change of the templates. TROUPE_KERNELS=7 compiles part 7, TROUPE_KERNELS=all all.
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <set>
#include <troupe/base/cat.hpp>
#include <troupe/cutlass/cells/testing/clean_cells.hpp>
#include <troupe/cutlass/support/layers.hpp>
#include <troupe/epilogue/moved_tree.hpp>

namespace troupe::cutlass {
namespace {

using epilogue::node, epilogue::op, epilogue::tree_memory;

constexpr std::uint64_t parts = 32;

// What is computed of a product: it, its sum with a matrix, half of it times the other half, and sums of it.
enum class form_of_result { plain, with_matrix, gated, sums_of_rows, three_reductions };
constexpr std::pair<form_of_result, const char*> forms[] = {
    {form_of_result::plain, "plain"},
    {form_of_result::with_matrix, "adding a matrix"},
    {form_of_result::gated, "gated"},
    {form_of_result::sums_of_rows, "with sums of rows"},
    {form_of_result::three_reductions, "with three reductions"}};

// Matrices have n columns.
std::vector<std::byte> epilogue_of(form_of_result f, std::int64_t n) {
  const auto memory_of = [](dtype t, const matrix_shape& shape, access_mode mode) {
    return tree_memory{1 << 20, shape, 0, t, mode, {}};
  };
  const auto node_of = [](op what, std::uint8_t first = 0, std::uint8_t second = 0, std::uint8_t operand = 0) {
    node out{.what = what, .operand = operand};
    out.arguments[0] = first, out.arguments[1] = second;
    return out;
  };
  std::vector<node> nodes{node_of(op::accumulator)};
  std::vector<tree_memory> memory;
  const auto reduce = [&](epilogue::span_of over, epilogue::reduction how, const matrix_shape& shape) {
    node r =
        node_of(op::reduce, static_cast<std::uint8_t>(nodes.size() - 1), 0, static_cast<std::uint8_t>(memory.size()));
    r.over = over, r.combine = how;
    nodes.push_back(r);
    memory.push_back(memory_of(dtype::f32, shape, access_mode::write));
  };
  if (f == form_of_result::with_matrix) {
    nodes.insert(nodes.end(), {node_of(op::load), node_of(op::add, 0, 1)});
    memory.push_back(memory_of(dtype::bf16, {n, n, n, 1}, access_mode::read));
  } else if (f == form_of_result::gated) {
    nodes = {node_of(op::left), node_of(op::right), node_of(op::silu), node_of(op::multiply, 2, 1)};
  } else if (f != form_of_result::plain) {
    reduce(epilogue::span_of::row, epilogue::reduction::sum, {n, 1, 1, 1});
    if (f == form_of_result::three_reductions) {
      reduce(epilogue::span_of::column, epilogue::reduction::sum, {1, n, n, 1});
      reduce(epilogue::span_of::all, epilogue::reduction::absolute_maximum, {1, 1, 1, 1});
    }
  }
  return epilogue::encode_tree(nodes, {}, memory);
}

// A product, or one of 8 groups of rows that follow each other.
problem product_of(const support::kind& k, bool terms_are_neighbours, bool grouped, const epilogue::tree& tree) {
  problem p = support::problem_of(k, terms_are_neighbours, tree);
  p.paired = tree.is_paired();
  if (p.paired && !terms_are_neighbours) p.b.term = 2 * p.n;
  if (!grouped) return p;
  p.batch = 8, p.groups = {1 << 20, true}, p.b.batch = p.n * p.k;
  if (p.b_scales.address != 0) p.b_scales.batch = p.n * p.k / k.terms;
  return p;
}

// Which part to compile; `parts`: all.
std::uint64_t part_to_compile() {
  const char* const asked = std::getenv("TROUPE_KERNELS");
  if (asked == nullptr || *asked == '\0') return version_of_templates() % parts;
  const std::string_view text = asked;
  if (text == "all") return parts;
  std::uint64_t part = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), part);
  if (wrong != std::errc{} || end != text.data() + text.size() || part >= parts) {
    ADD_FAILURE() << "TROUPE_KERNELS is \"" << text << "\"; expected all, or a part: 0 to " << parts - 1;
    return 0;
  }
  return part;
}

// Kernels that are known to spill, for GPUs on which none of ours has run yet, and the bytes of their stack frames.
struct known_spill {
  std::string_view begin_of_name;
  int stack_bytes;
};
constexpr known_spill known_spills[] = {
    {"sm_89 groups of f16 or bf16 with i8 with three reductions by lines:", 48},
    {"sm_120a f16 or bf16 with f8e4m3 or f8e5m2 dfilters, large, stride 1, to bf16:", 32},
};
int known_stack_bytes_of(std::string_view name) {
  for (const known_spill& k : known_spills)
    if (name.starts_with(k.begin_of_name)) return k.stack_bytes;
  return 0;
}

class first_choices : public testing::clean_cells, public ::testing::WithParamInterface<int> {
 protected:
  void SetUp() override { compile_for(on().capability); }
  void TearDown() override {
    EXPECT_GT(compiled_, 0) << "part " << part_ << " has no kernel for this GPU";
    std::cout << on().name << ": compiled " << compiled_ << " of " << texts_.size() << " kernels, "
              << (part_ == parts ? "all" : cat("part ", part_, " of ", parts)) << "\n";
  }
  const support::architecture& on() const { return support::all_architectures[GetParam()]; }
  void expect_clean_choice(const std::string& source, const std::string& name) {
    if (!texts_.insert(source).second) return;
    // A part has other rows of the table for each GPU.
    if (part_ != parts && (texts_.size() + 5 * static_cast<std::size_t>(GetParam())) % parts != part_) return;
    ++compiled_;
    expect_clean(source, name, known_stack_bytes_of(name));
  }

 private:
  const std::uint64_t part_ = part_to_compile();
  std::set<std::string> texts_;
  int compiled_ = 0;
};

TEST_P(first_choices, of_products_compile_without_spills) {
  for (const support::kind& k : support::kinds)
    for (const bool terms : {true, false})
      for (const auto& [f, form] : forms)
        for (const bool grouped : {false, true}) {
          const std::vector<std::byte> encoded = epilogue_of(f, 1024);
          const problem p = product_of(k, terms, grouped, epilogue::tree(encoded.data(), encoded.size()));
          const whole_form whole = form_of(p);
          const auto found = candidates_for(whole, {p.m, p.n, p.k, p.batch}, support::chip_of(on()), {});
          ASSERT_TRUE(found) << found.error().text();
          const cell_text text = text_of_cell(whole, found->front().plan);
          expect_clean_choice(text.source, cat(on().name, " ", grouped ? "groups of " : "", k.name, " ", form,
                                               terms ? ": " : " by lines: ", text.name));
        }
}

TEST_P(first_choices, of_convolutions_compile_without_spills) {
  const std::vector<std::byte> plain = epilogue_of(form_of_result::plain, 1);
  const epilogue::tree tree(plain.data(), plain.size());
  const auto expect_clean_layer = [&](const support::kind& k, convolution_result r, const support::layer& l) {
    const convolution_problem p = problem_of(k, r, l, tree);
    const auto ways = ways_for(p, support::chip_of(on()), {});
    ASSERT_TRUE(ways) << ways.error().text();
    const convolution_way& best = ways->front();
    const auto work = work_of(p, best.choice, 0);
    ASSERT_TRUE(work) << work.error().text();
    expect_clean_choice(text_of_cell(work->form, best.plan.plan).source,
                        cat(on().name, " ", k.name, " ", to_string(r), l.large ? ", large" : "",
                            l.channels_are_neighbours ? "" : ", places are neighbours", ", stride ", l.stride, ", to ",
                            to_string(l.computed), ": ", to_string(best)));
  };
  for (const support::kind& k : support::kinds_of_convolutions())
    for (const convolution_result r : {convolution_result::y, convolution_result::dx, convolution_result::dfilters})
      for (const bool channels_are_neighbours : {true, false})
        for (const std::int64_t stride : {1, 2}) {
          expect_clean_layer(k, r, {channels_are_neighbours, stride, dtype::bf16});
          expect_clean_layer(k, r, {channels_are_neighbours, stride, sums_of(k.a, k.b)});
          expect_clean_layer(k, r, {channels_are_neighbours, stride, dtype::bf16, true});
        }
}

INSTANTIATE_TEST_SUITE_P(each, first_choices, ::testing::Range(0, 6),
                         [](const auto& info) { return std::string(support::all_architectures[info.param].name); });

}  // namespace
}  // namespace troupe::cutlass
