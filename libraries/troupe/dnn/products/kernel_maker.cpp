// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
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

// Returns the shape in which the product is expected to read an operand: a copy is dense.
tensor_shape expected_shape_of(const graph_analysis& g, const fusion_match::tensor& t) {
  const tensor_shape at = expected_shape(g, t.number);
  return t.accepts != nullptr && t.accepts(at) ? at : t.shape;
}

}  // namespace

kernel_maker::kernel_maker(const engine_context& context) : context_(context) {
  if (context.neighbours == nullptr) why_none_ = "there are no other engines outside of a worker";
}

std::string kernel_maker::why_none() const {
  const std::scoped_lock guard(lock_);
  return why_none_;
}

// Reports a reason once, unless the next one is another.
void kernel_maker::report(const error& why) {
  const std::scoped_lock guard(lock_);
  if (why_none_ == why.text()) return;
  why_none_ = why.text();
  remark(context_, cat("dnn: slow: our own kernels compute products of matrices, because ", why_none_));
}

kernel_maker::made_kernels kernel_maker::make_kernels(graph_analysis& g, const computation_options& o, dtype compute,
                                                      const call& c) {
  made_kernels out;
  if (context_.neighbours == nullptr) return out;
  for (std::size_t i = 0; i < g.graph.nodes().size(); ++i) {
    if (g.matched[i] || g.node(i).what != op::product) continue;
    auto made = make_kernel(g, i, o, compute, c);
    if (!made) {
      report(made.error());
      if (made.error().reaction() != reaction::unsupported) out.is_final = false;
    } else if (*made != nullptr) {
      g.add((*made)->match());
      out.vendor_kernels.push_back(std::move(*made));
    }
  }
  return out;
}

// Returns null if matmul has no products like this one. Fails if matmul's engine is missing, or cannot plan now.
result<std::unique_ptr<vendor_kernel>> kernel_maker::make_kernel(const graph_analysis& g, std::size_t node,
                                                                 const computation_options& o, dtype compute,
                                                                 const call& c) {
  const troupe_engine_neighbours& among = *context_.neighbours;
  TROUPE_TRY(find_operation(among, library_code(library_of<multiplication>()), opcode_of<multiplication>));
  const matmul::product_options options = options_of(o);
  // Returns nullopt if matmul does not compute the match, or not in one pass: a tail that matmul computes in a second
  // pass is left to a generated kernel, which is faster.
  const auto plan = [&](const product_match& m) -> result<std::optional<plan_info>> {
    std::vector<tensor_shape> inputs;
    for (const fusion_match::tensor& t : m.match.inputs) inputs.push_back(expected_shape_of(g, t));
    matmul::product_options asked = options;
    if (m.match.nodes.size() > 1) asked.fusion = matmul::fusion::required;
    const auto request = m.request(inputs, m.match.outputs[0].shape, asked);
    if (!request) return std::optional<plan_info>();
    const auto found = plan_of(among, *request, c);
    if (!found && found.error().reaction() != reaction::unsupported) return found.error();
    return found ? std::optional(*found) : std::nullopt;
  };
  std::vector<product_match> all = product_matches(g, node, compute);
  for (product_match& m : all) {
    const std::optional<plan_info> found = TROUPE_TRY(plan(m));
    if (!found) continue;
    product_match* chosen = &m;
    // cuBLASLt must not split sums along k before functions. If it would, they are few and long: then the product alone
    // is much faster, and a pass over its few results costs little.
    if (m.tail.has_functions() && found->split_k <= 1)
      if (const std::optional<plan_info> alone = TROUPE_TRY(plan(all.back())); alone && alone->split_k > 1)
        chosen = &all.back();
    return std::unique_ptr<vendor_kernel>(std::make_unique<product_kernel>(std::move(*chosen), options, among));
  }
  return std::unique_ptr<vendor_kernel>();
}

}  // namespace troupe::dnn::products
