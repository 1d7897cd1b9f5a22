// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>
#include <troupe/dnn/onednn/vendor.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

/// The computation of a node by each engine, according to the engines' planners.
namespace troupe::dnn::support {

/// A question to a planner: the nodes of one operation in a graph, with elements of a type.
struct node_query {
  const encoded_graph& graph;
  op what;
  dtype type;
};

/// The text of the table for a node, and the reason if the node is refused.
struct node_support {
  std::string text, refused = {};
  friend bool operator==(const node_support&, const node_support&) = default;
};

/// The step that computes a node in a plan.
struct planned_node {
  enum class kind : std::uint8_t {
    view,                ///< no step: the next step reads the elements where they are
    elementwise_kernel,  ///< an elementwise kernel
    operator_step,       ///< an operator step
    fused_step,          ///< a vendor kernel or a direct step
  };
  kind how = kind::view;
  std::size_t step = 0;  ///< index of the first step of this kind

  /// Finds the step that computes a node. `is_match(step)` returns true if a fused step computes it.
  template <class IsMatch>
  static planned_node of(const step_list& all, const node_query& query, const IsMatch& is_match);
};

/// Returns the type in which elements are computed if the table names none.
constexpr dtype usual_type(dtype elements) noexcept {
  const bool is_long = elements == dtype::f64 || elements == dtype::i32 || elements == dtype::u32;
  return is_long ? dtype::f64 : dtype::f32;
}
/// Returns the word alone if the node is computed in the usual type, "cuDNN as stored" if in the type of the elements,
/// otherwise "cuDNN in f64".
std::string in_type(std::string_view word, dtype computed, dtype elements);

/// The planner of the host engine, which uses oneDNN wherever it can.
class host_engine {
 public:
  /// Fails if oneDNN cannot be used.
  static result<host_engine> make();
  node_support ask(const node_query& query) const;

 private:
  explicit host_engine(std::unique_ptr<onednn::vendor> v) noexcept : vendor_(std::move(v)) {}
  std::unique_ptr<onednn::vendor> vendor_;
};

/// The planner of the CUDA engine. Only on a GPU is known if cuDNN has an engine for a node.
class cuda_engine {
 public:
  /// Fails if cuDNN cannot be loaded.
  static result<cuda_engine> make();
  node_support ask(const node_query& query) const;

 private:
  cuda_engine() = default;
};

/// Returns how many products of matrices were requested so far. They are counted and not computed, see
/// counted_products.cpp.
std::size_t products_so_far() noexcept;

// -- implementation

bool is_only_a_view(const step_list& all, const node_query& query) noexcept;

template <class IsMatch>
planned_node planned_node::of(const step_list& all, const node_query& query, const IsMatch& is_match) {
  planned_node out{is_only_a_view(all, query) ? kind::view : kind::elementwise_kernel};
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    if (const auto* const s = std::get_if<operator_step>(&all.steps[i]); s != nullptr && s->what == query.what)
      return {kind::operator_step, i};
    if (const auto* const s = std::get_if<fused_step>(&all.steps[i]); s != nullptr && is_match(*s))
      return {kind::fused_step, i};
    if (out.how == kind::elementwise_kernel && std::holds_alternative<elementwise_kernel>(all.steps[i])) out.step = i;
  }
  return out;
}

}  // namespace troupe::dnn::support
