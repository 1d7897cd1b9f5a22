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

/// What an engine does with a node, as its planning says.
namespace troupe::dnn::support {

/// A node of a graph, with elements of a type.
struct asked {
  const encoded_graph& graph;
  op what;
  dtype type;
};

/// What computes a node, in words, or why it is refused.
struct way {
  std::string text, refused = {};
  friend bool operator==(const way&, const way&) = default;
};

/// What becomes of a node in a plan.
struct planned {
  enum class kind : std::uint8_t {
    view,                ///< nothing: the next step reads its elements where they are
    elementwise_kernel,  ///< it is computed with other operations on elements
    whole,               ///< it is a step of its own
    matched,             ///< it is computed by a part or a direct step
  };
  kind how = kind::view;
  std::size_t step = 0;  ///< the first of this kind

  /// `fusion matches(step, what)` says whether a claimed step has nodes of this kind.
  template <class Claims>
  static planned of(const step_list& all, const asked& a, const Claims& matches);
};

/// In what elements are computed where the table names no type.
constexpr dtype usual_type(dtype elements) noexcept {
  const bool is_long = elements == dtype::f64 || elements == dtype::i32 || elements == dtype::u32;
  return is_long ? dtype::f64 : dtype::f32;
}
/// Returns "cuDNN", "cuDNN in f64" if f64 is not the usual type, or "cuDNN as stored" if it is computed in a type that
/// is not usual, but that of the elements.
std::string in_type(std::string_view word, dtype computed, dtype elements);

/// The host engine, with oneDNN wherever that can compute something.
class host_engine {
 public:
  /// Fails if there is no oneDNN.
  static result<host_engine> make();
  way ask(const asked& a) const;

 private:
  explicit host_engine(std::unique_ptr<onednn::vendor> v) noexcept : vendor_(std::move(v)) {}
  std::unique_ptr<onednn::vendor> vendor_;
};

/// The CUDA engine. What cuDNN has for a node is only known on a GPU.
class cuda_engine {
 public:
  /// Fails if there is no cuDNN.
  static result<cuda_engine> make();
  way ask(const asked& a) const;

 private:
  cuda_engine() = default;
};

/// How many products of matrices were computed; they are counted in place of being computed, see counted_products.cpp.
std::size_t products_so_far() noexcept;

// -- implementation

bool is_only_a_view(const step_list& all, const asked& a) noexcept;

template <class Claims>
planned planned::of(const step_list& all, const asked& a, const Claims& matches) {
  planned out{is_only_a_view(all, a) ? kind::view : kind::elementwise_kernel};
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    if (const auto* const s = std::get_if<operator_step>(&all.steps[i]); s != nullptr && s->what == a.what)
      return {kind::whole, i};
    if (const auto* const s = std::get_if<vendor_step>(&all.steps[i]); s != nullptr && matches(*s))
      return {kind::matched, i};
    if (out.how == kind::elementwise_kernel && std::holds_alternative<elementwise_kernel>(all.steps[i])) out.step = i;
  }
  return out;
}

}  // namespace troupe::dnn::support
