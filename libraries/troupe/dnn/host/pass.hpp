// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/host/places.hpp>
#include <troupe/epilogue/op.hpp>
#include <vector>

namespace troupe::dnn::host {

/// Operations on elements, computed in one go over all of them: what lies between them stays in the cache.
template <class N>
class pass {
 public:
  using slot = std::uint16_t;
  explicit pass(const tensor_shape& extents) : shape_(extents) {}

  const tensor_shape& extents() const noexcept { return shape_; }
  slot read(const location& from) { return add({.what = step::kind::read, .operand = operand_of(from)}); }
  slot number(double value) { return add({.what = step::kind::number, .value = value}); }
  slot apply(epilogue::op f, slot x, slot y, slot z) {
    return add({.what = step::kind::apply, .function = f, .from = {x, y, z}});
  }
  slot round(dtype to, slot x) { return add({.what = step::kind::round, .type = to, .from = {x}}); }
  void write(slot x, const location& to) {
    add({.what = step::kind::write, .operand = operand_of(to), .from = {x}});
    if (leader_ == none || (!to.is_buffer && operands_[leader_].is_buffer)) leader_ = operands_.size() - 1;
  }
  /// Must be called after the last step, and before `run`.
  void finish();
  void run(const workspace& w) const;

 private:
  static constexpr std::size_t none = SIZE_MAX;
  struct step {
    enum class kind : std::uint8_t { read, number, apply, round, write };
    kind what{};
    epilogue::op function{};
    dtype type{};
    std::uint16_t operand = 0;
    slot from[3] = {0, 0, 0};
    double value = 0;
  };
  slot add(const step& s) {
    steps_.push_back(s);
    return static_cast<slot>(steps_.size() - 1);
  }
  std::uint16_t operand_of(const location& l) {
    operands_.push_back(l);
    return static_cast<std::uint16_t>(operands_.size() - 1);
  }
  void run_piece(std::span<std::byte* const> at, std::int64_t line, std::int64_t first, std::int64_t count, N* slots,
                 const N** values) const;

  tensor_shape shape_;
  std::vector<step> steps_;
  std::vector<location> operands_;
  std::size_t leader_ = none;  // the operand in whose order the elements are walked
  walk walk_;
  std::vector<std::size_t> walked_;  // operand i of the pass is operand walked_[i] of the walk
};

}  // namespace troupe::dnn::host
