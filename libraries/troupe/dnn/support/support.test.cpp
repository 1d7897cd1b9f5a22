// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares the table of docs/dnn.md with what the engines plan. The table says how each engine computes each operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tests/support/page_table.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/cuda/cuda_plan.hpp>
#include <troupe/dnn/cudnn/candidate.hpp>
#include <troupe/dnn/cudnn/functions.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/host/host_plan.hpp>
#include <troupe/dnn/onednn/kernel_maker.hpp>
#include <troupe/dnn/products/product_match.hpp>
#include <troupe/dnn/support/cases.hpp>

namespace troupe::dnn::support {
namespace {

constexpr std::uint64_t any_workspace = ~std::uint64_t{0};
constexpr dtype types[] = {dtype::f32,    dtype::f64,      dtype::f16, dtype::bf16, dtype::f8e4m3,  dtype::f8e5m2,
                           dtype::f4e2m1, dtype::i8,       dtype::u8,  dtype::i16,  dtype::u16,     dtype::i32,
                           dtype::u32,    dtype::f8e8m0,   dtype::i64, dtype::u64,  dtype::boolean, dtype::c64,
                           dtype::c128,   dtype::f4e2m1x2, dtype::c32, dtype::cbf16};
static_assert(std::size(types) + 1 == std::size(dtype_table));

// A query for the nodes of one operation in a graph. Their elements have the given type.
struct node_query {
  const encoded_graph& graph;
  op what;
  dtype type;
};

// Returns the table's text for a word and the type in which a node is computed. The usual type is not mentioned.
std::string in_type(std::string_view word, dtype computed, dtype elements) {
  const bool is_long =
      elements == dtype::f64 || elements == dtype::i32 || elements == dtype::u32 || elements == dtype::i64;
  if (computed == (is_long ? dtype::f64 : dtype::f32)) return std::string(word);
  return computed == elements ? cat(word, " as stored") : cat(word, " in ", to_string(computed));
}

// Returns true if elementwise kernels only copy the result of the node, once for each write.
bool is_only_a_view(const step_list& all, const node_query& query) {
  if (query.what == op::write || query.what == op::convert) return false;
  std::ptrdiff_t kernels = 0;
  for (const auto& step : all.steps) {
    if (std::holds_alternative<fused_step>(step)) return false;
    const auto* const kernel = std::get_if<elementwise_kernel>(&step);
    if (kernel == nullptr) continue;
    ++kernels;
    using enum elementwise_kernel::operation::kind;
    for (const elementwise_kernel::operation& o : kernel->operations)
      if (o.what != read && o.what != write) return false;
  }
  const auto nodes = query.graph.nodes();
  return kernels <=
         std::count_if(nodes.begin(), nodes.end(), [](const encoded_node& n) { return n.what == op::write; });
}

// The step of a plan that computes a node. A view has no step; if neither is set, elementwise kernels or set kernels
// compute it.
struct planned_node {
  bool is_view = false;
  const operator_step* own = nullptr;
  const fused_step* fused = nullptr;

  // `is_match(step)` returns true if a fused step computes the node.
  template <class IsMatch>
  planned_node(const step_list& all, const node_query& query, const IsMatch& is_match)
      : is_view(is_only_a_view(all, query)) {
    for (std::size_t i = 0; i < all.steps.size() && own == nullptr && fused == nullptr; ++i) {
      if (const auto* const s = std::get_if<operator_step>(&all.steps[i]); s != nullptr && s->what == query.what)
        own = s;
      if (const auto* const s = std::get_if<fused_step>(&all.steps[i]); s != nullptr && is_match(*s)) fused = s;
    }
    is_view = is_view && own == nullptr && fused == nullptr;
  }
};

// Returns the table's text for the host engine. `own` is the word for an operator step: only a run shows if it
// multiplies matrices, so the plan cannot tell.
std::string on_host(const node_query& query, onednn::kernel_maker& vendor, std::string_view own) {
  const auto alone = host::make_host_plan(query.graph, nullptr, any_workspace);
  if (!alone) return "refused: " + alone.error().text();
  const planned_node planned(*alone, query, [](const fused_step&) { return false; });
  if (planned.is_view) return "view";
  const std::string_view ours = planned.own != nullptr ? own : "loops";
  const auto all = host::make_host_plan(query.graph, &vendor, any_workspace);
  const bool has_vendor_kernel =
      all && std::any_of(all->vendor_kernels.begin(), all->vendor_kernels.end(), [&](const auto& kernel) {
        const auto& nodes = kernel->match().nodes;
        return std::any_of(nodes.begin(), nodes.end(),
                           [&](auto n) { return query.graph.nodes()[n].what == query.what; });
      });
  return in_type(has_vendor_kernel ? cat("oneDNN or ", ours) : std::string(ours), alone->compute_type, query.type);
}

// Returns the types in which cuDNN may compute the node, the best first, as "cuDNN as stored or in f32, else "; "" if
// cuDNN is not used. Whether cuDNN has an engine for the node can only be found out on a GPU.
std::string with_cudnn(const node_query& query) {
  const graph_analysis analysis = analysis_of(query.graph);
  std::vector<dtype> found;
  for (std::size_t i = 0; i < query.graph.nodes().size(); ++i) {
    if (query.graph.nodes()[i].what != query.what) continue;
    for (const cudnn::candidate& c : cudnn::candidates_of(analysis, i, {}))
      if (const dtype t = c.match.inputs[0].type; std::find(found.begin(), found.end(), t) == found.end())
        found.push_back(t);
  }
  if (found.empty()) return "";
  std::string out = in_type("cuDNN", found[0], query.type);
  for (std::size_t i = 1; i < found.size(); ++i) out += cat(" or in ", to_string(found[i]));
  return out + ", else ";
}

// Returns the type in which matmul's engine may compute the node, as "matmul as stored, else "; "" if it does not.
std::string with_matmul(const node_query& query, dtype compute) {
  const graph_analysis analysis = analysis_of(query.graph);
  for (std::size_t i = 0; i < query.graph.nodes().size(); ++i)
    for (const products::product_match& m : products::product_matches(analysis, i, compute))
      return in_type("matmul", m.match.inputs[0].type, query.type) + ", else ";
  return "";
}

std::string on_cuda(const node_query& query) {
  const cuda_plan all = make_cuda_plan({}, analysis_of(query.graph));
  const planned_node planned(all, query, [&](const fused_step& s) {
    return all.set_kernels_of(s).empty() && all.stored_type_step_of(s).what == query.what;
  });
  const std::string vendor = query.what == op::product ? with_matmul(query, all.compute_type) : with_cudnn(query);
  if (planned.is_view) return vendor + "view";
  if (planned.own != nullptr) return vendor + in_type("plain", all.compute_type, query.type);
  if (planned.fused != nullptr) {
    const dtype computed = all.stored_type_step_of(*planned.fused).inputs[0].type;
    return vendor + (computed == query.type ? "stored-type" : cat("stored-type in ", to_string(computed)));
  }
  const auto of_sets = [&](const fused_step& s) { return all.set_kernels_of(s); };
  const auto launches = generated::source_of(all, of_sets, aligned_memory_of(query.graph)).of_steps;
  bool generates = true;
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    const auto* const fused = std::get_if<fused_step>(&all.steps[i]);
    const bool can_be =
        fused != nullptr ? !of_sets(*fused).empty() : std::holds_alternative<elementwise_kernel>(all.steps[i]);
    generates = generates && (!can_be || !launches[i].empty());
  }
  return vendor + in_type(generates ? "generated" : "interpreted", all.compute_type, query.type);
}

std::vector<std::string> split(const std::string& text, const std::string& at) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find(at, begin)) != text.npos; begin = end + at.size())
    out.push_back(text.substr(begin, end - begin));
  out.push_back(text.substr(begin));
  return out;
}
bool has(const std::vector<std::string>& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// The table of the page, with the columns operations, elements, host engine and CUDA engine. An empty cell repeats the
// cell above it.
class table {
 public:
  table() {
    std::string names;
    for (auto& row : page_.rows) {
      if (row.size() != 4) throw std::runtime_error("a row of docs/dnn.md does not have 4 cells: " + row.at(0));
      if (row[0].empty()) row[0] = names;
      names = row[0];
      unused_.insert(&row);
    }
    unused_.erase(&page_.rows[0]);
  }
  const std::vector<std::string>& last() const { return page_.rows.back(); }
  std::size_t unused() const { return unused_.size(); }
  const std::vector<std::string>& other_lines() const { return page_.other_lines; }

  // Returns the row for a case; nullptr if there is none. The last row has the types that all operations refuse.
  const std::vector<std::string>* find(const support_case& c, dtype type) {
    const std::vector<std::string>* found = nullptr;
    if (has(refused_types(), to_string(type))) found = &page_.rows.back();
    for (auto row = page_.rows.begin() + 1; found == nullptr && row != page_.rows.end() - 1; ++row)
      if (names(row->at(0), c) &&
          (row->at(1) == "all" || row->at(1) == "others" || has(split(row->at(1), " "), to_string(type))))
        found = &*row;
    unused_.erase(found);
    return found;
  }
  // Replaces "refused (1)" by the reason in note 1.
  std::string in_full(const std::string& cell) const {
    for (std::size_t i = 0; i < page_.notes.size(); ++i)
      if (cell == cat("refused (", i + 1, ")")) return "refused: " + page_.notes[i];
    return cell;
  }
  std::vector<std::string> refused_types() const { return split(page_.rows.back()[1], " "); }

 private:
  // Returns true if a cell such as "layer_norm, rms_norm (rows of 1020); product" names the case.
  static bool names(const std::string& cell, const support_case& c) {
    for (const std::string& group : split(cell, "; ")) {
      const std::size_t open = group.find(" (");
      if (!has(split(group.substr(0, open), ", "), c.name)) continue;
      if (open == group.npos || has(split(group.substr(open + 2, group.size() - open - 3), ", "), c.variant))
        return true;
    }
    return false;
  }

  testing::page_table page_{TROUPE_SOURCES "/docs/dnn.md", "troupe_dnn_support_test"};
  std::set<const std::vector<std::string>*> unused_;
};

// Returns the reason with "this type" in place of the type's name.
std::string without_type(std::string reason, dtype type) {
  const std::string name = cat(" ", to_string(type));
  if (const std::size_t at = reason.find(name); at != reason.npos) reason.replace(at, name.size(), " this type");
  return reason;
}

class dnn_support : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_not_here(); !why.empty()) GTEST_SKIP() << why;
  }
  // Opens the vendors' libraries. Returns the reason if the engines cannot plan on this machine, otherwise "".
  std::string why_not_here() {
    // Limit oneDNN to AVX2, so that the table does not depend on this processor: with AVX-512, oneDNN computes more.
    if (!__builtin_cpu_supports("avx2")) return "this processor has no AVX2";
    ::setenv("DNNL_MAX_CPU_ISA", "AVX2", 1);
    ::setenv("TROUPE_ONEDNN", "always", 1);
    auto opened = onednn::kernel_maker::open(1);
    if (!opened) return opened.error().text();
    vendor = std::move(*opened);
    // cuDNN's functions build the operation graphs.
    const auto loaded = cudnn::load();
    return loaded ? "" : loaded.error().text();
  }

  void expect_row(const support_case& c, dtype type) {
    SCOPED_TRACE(cat(c.name, " (", c.variant, ") of ", to_string(type)));
    const auto* const row = page.find(c, type);
    ASSERT_NE(row, nullptr) << "docs/dnn.md has no row for this case";
    tensors memory(type);
    const results r = c.make(memory);
    std::vector<written> all;
    for (const value& v : r.stored) all.push_back(memory.to_memory(v, true, r.channels_last));
    for (const value& v : r.others) all.push_back(memory.to_memory(v, false));
    const graph g{std::span<const written>(all)};
    std::string host, cuda;
    if (const auto& why = g.refused()) {
      host = cuda = without_type(cat("refused: ", why->what, "; expected ", why->expected), type);
    } else {
      std::vector<std::uint64_t> encoded(g.encoded_bytes() / sizeof(std::uint64_t));
      g.encode(reinterpret_cast<std::byte*>(encoded.data()));
      const encoded_graph decoded(reinterpret_cast<const std::byte*>(encoded.data()), g.encoded_bytes());
      const node_query query{decoded, c.what, type};
      host = on_host(query, *vendor, row->at(2).find("OpenBLAS") != std::string::npos ? "OpenBLAS" : "loops");
      cuda = on_cuda(query);
    }
    if (row == &page.last() && c.what != op::convolution) {
      // The row's reason is that of the first operation. Others may be refused for other reasons, such as what they
      // write.
      EXPECT_TRUE(host.starts_with("refused: ") && cuda.starts_with("refused: ")) << host << ", " << cuda;
      return;
    }
    EXPECT_EQ(page.in_full(row->at(2)), host);
    EXPECT_EQ(page.in_full(row->at(3)), cuda);
  }

  std::unique_ptr<onednn::kernel_maker> vendor;
  table page;
};

TEST_F(dnn_support, the_table_of_the_page_agrees_with_the_plans_of_the_engines) {
  std::set<op> used;
  for (const auto& cases : {cases_of_images(), cases_of_sequences(), cases_of_sets(), cases_of_elements()})
    for (const support_case& c : cases) {
      used.insert(c.what);
      for (const dtype t : types) expect_row(c, t);
    }
  EXPECT_EQ(page.unused(), 0u) << "rows of docs/dnn.md that no case needs";
  for (int i = 1; is_known(static_cast<op>(i)); ++i)
    EXPECT_TRUE(used.contains(static_cast<op>(i))) << to_string(static_cast<op>(i)) << " has no case";
}

TEST_F(dnn_support, the_page_lists_the_types_that_the_word_all_stands_for) {
  std::vector<dtype> all;
  for (const dtype t : types)
    if (!has(page.refused_types(), to_string(t))) all.push_back(t);
  std::sort(all.begin(), all.end());
  std::string list;
  for (const dtype t : all) list += cat(" ", to_string(t));
  EXPECT_TRUE(has(page.other_lines(), cat("\"All\" elements are", list, "."))) << list;
}

}  // namespace
}  // namespace troupe::dnn::support
