// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/products/kernel_maker.hpp>
#include <troupe/dnn/products/product_match.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/worker/neighbour.hpp>

namespace troupe::dnn::products {
namespace {

using matmul::multiplication, matmul::plan_info;

matmul::product_options options_of(const computation_options& o) noexcept {
  return {.precision = o.precision == precision::tf32 ? matmul::precision::tf32 : matmul::precision::exact,
          .repeatability = o.repeatability == repeatability::always ? matmul::repeatability::between_processes
                                                                    : matmul::repeatability::within_a_process,
          .workspace = o.workspace};
}

// Asks matmul's engine for the plan of a product whose addresses are placeholders.
result<plan_info> plan_of(const troupe_engine_neighbours& among, const multiplication& r, const call& c) {
  call planning = c;
  planning.stream = nullptr, planning.recording = nullptr;
  return run_request(among, matmul::prepare<multiplication>{.request = r}, planning);
}

class product_kernel final : public vendor_kernel {
 public:
  product_kernel(product_match m, const matmul::product_options& o, const troupe_engine_neighbours& among)
      : vendor_kernel(m.match), match_(std::move(m)), options_(o), among_(among) {}

  result<std::uint64_t> place(const fused_step& s, std::uint64_t workspace, const call& c) override {
    std::vector<tensor_shape> inputs;
    for (const location& l : s.inputs) inputs.push_back(l.shape);
    matmul::product_options o = options_;
    o.workspace = workspace;
    request_ = match_.request(inputs, s.outputs[0].shape, o);
    if (!request_) return error(reaction::fatal, "dnn", "a plan has a product of tensors that are no matrices");
    // Without a limit it does not matter how much memory matmul needs.
    if (workspace == any_workspace) return 0;
    return TROUPE_TRY(plan_of(among_, *request_, c)).workspace;
  }

  result<void> enqueue(std::span<void* const> addresses, void*, call& c) const override {
    multiplication r = *request_;
    auto next = addresses.begin();
    const auto put = [&next](memory_range& m) { m.address = reinterpret_cast<std::uintptr_t>(*next++); };
    r.a.visit_memory(put);
    r.b.visit_memory(put);
    r.epilogue.visit_memory(put);
    r.d.visit_memory(put);
    const auto done = run_request(among_, r, c);
    return done ? result<void>() : done.error();
  }

 private:
  const product_match match_;
  const matmul::product_options options_;
  const troupe_engine_neighbours& among_;
  std::optional<multiplication> request_;
};

}  // namespace

kernel_maker::kernel_maker(const engine_context& context) : context_(context) {
  if (context.neighbours == nullptr) why_none_ = "there are no other engines outside of a worker";
}

std::string kernel_maker::why_none() const {
  const std::scoped_lock guard(lock_);
  return why_none_;
}

// Returns true if matmul's engine can be opened. Reports once that it cannot.
bool kernel_maker::is_there() {
  const std::scoped_lock guard(lock_);
  if (context_.neighbours == nullptr) return false;
  const auto found =
      find_operation(*context_.neighbours, library_code(library_of<multiplication>()), opcode_of<multiplication>);
  if (found) {
    why_none_.clear();
  } else if (why_none_.empty()) {
    why_none_ = found.error().text();
    remark(context_, cat("dnn: slow: our own kernels compute products of matrices, because ", why_none_));
  }
  return static_cast<bool>(found);
}

std::vector<std::unique_ptr<vendor_kernel>> kernel_maker::make_kernels(graph_analysis& g, const computation_options& o,
                                                                       dtype compute, const call& c) {
  std::vector<std::unique_ptr<vendor_kernel>> out;
  for (std::size_t i = 0; i < g.graph.nodes().size(); ++i) {
    if (g.matched[i] || g.node(i).what != op::product || !is_there()) continue;
    auto kernel = make_kernel(g, i, o, compute, c);
    if (kernel == nullptr) continue;
    g.add(kernel->match());
    out.push_back(std::move(kernel));
  }
  return out;
}

std::unique_ptr<vendor_kernel> kernel_maker::make_kernel(const graph_analysis& g, std::size_t node,
                                                         const computation_options& o, dtype compute, const call& c) {
  const matmul::product_options options = options_of(o);
  const auto plan = [&](const product_match& m) -> std::optional<plan_info> {
    std::vector<tensor_shape> inputs;
    for (const fusion_match::tensor& t : m.match.inputs)
      inputs.push_back(t.accepts != nullptr ? expected_shape(g, t.number) : t.shape);
    // A tail that matmul computes in a second pass is left to a generated kernel, which is faster.
    matmul::product_options asked = options;
    if (m.match.nodes.size() > 1) asked.fusion = matmul::fusion::required;
    const auto request = m.request(inputs, m.match.outputs[0].shape, asked);
    if (!request) return std::nullopt;
    const auto found = plan_of(*context_.neighbours, *request, c);
    return found ? std::optional(*found) : std::nullopt;
  };
  std::vector<product_match> all = product_matches(g, node, compute);
  for (product_match& m : all) {
    const auto found = plan(m);
    if (!found) continue;
    // cuBLASLt must not split sums along k before functions. If it would, they are few and long: then the product alone
    // is much faster, and a pass over its few results costs little.
    if (m.tail.has_functions() && found->split_k <= 1)
      if (const auto alone = plan(all.back()); alone && alone->split_k > 1)
        return std::make_unique<product_kernel>(std::move(all.back()), options, *context_.neighbours);
    return std::make_unique<product_kernel>(std::move(m), options, *context_.neighbours);
  }
  return nullptr;
}

}  // namespace troupe::dnn::products
