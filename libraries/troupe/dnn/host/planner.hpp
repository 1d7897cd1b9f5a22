// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/dnn/host/pass.hpp>
#include <troupe/dnn/host/program.hpp>

namespace troupe::dnn::host {

/// Makes a program that computes in N. Operations on elements that follow each other become one pass; everything else
/// is a step of its own, of tensors without gaps. What only moves elements is a view of them, until somebody needs them
/// without gaps.
template <class N>
class planner {
 public:
  explicit planner(const seen_graph& g);
  void plan(program& to);

 private:
  struct tensor_state {
    std::optional<location> place;               ///< where it can be read
    std::optional<location> dense;               ///< a copy of it as N, without gaps
    std::optional<typename pass<N>::slot> slot;  ///< in the open pass
    std::size_t last_reader = 0;                 ///< the last node that reads it
    std::size_t readers = 0;
    std::uint16_t writes_to = no_tensor;  ///< the memory that is all that becomes of it
  };
  struct buffer {
    std::uint64_t bytes;
    std::size_t first, last;  ///< the steps that use it
  };

  const seen_tensor& tensor(std::uint16_t t) const noexcept { return graph_.tensors()[t]; }
  void look();
  void add(const seen_node& n);

  // Passes.
  bool joins(const seen_node& n) const;
  void join(const seen_node& n);
  typename pass<N>::slot slot_of(std::uint16_t t);
  void close();

  // Steps.
  template <class F>
  void step(std::initializer_list<const location*> used, F&& f);
  void copy(const location& from, const location& to);
  location new_buffer(const tensor_shape& s);
  location result(std::uint16_t t);
  location place_of(std::uint16_t t);
  location dense(std::uint16_t t);
  void add_view(const seen_node& n);
  void add_concatenation(const seen_node& n);
  void add_normalization(const seen_node& n);
  void add_normalization_gradient(const seen_node& n);
  void add_step(const seen_node& n);
  void place_buffers(program& to) const;

  const seen_graph& graph_;
  std::vector<tensor_state> tensors_;
  std::optional<pass<N>> open_;
  std::vector<std::uint16_t> in_pass_;    // tensors that it makes
  std::vector<location> pass_locations_;  // that it uses
  std::size_t node_ = 0;
  std::vector<buffer> buffers_;
  std::vector<std::function<void(const workspace&)>> steps_;
};

}  // namespace troupe::dnn::host
