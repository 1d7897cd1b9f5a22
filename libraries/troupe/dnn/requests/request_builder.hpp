// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/dnn/requests/computation.hpp>
#include <utility>
#include <vector>

namespace troupe::dnn::detail {

/// The extents that a field must have.
struct expected_extents {
  std::size_t rank = 0;
  std::array<std::int64_t, tensor_shape::max_rank> extents{};
  std::span<const std::int64_t> all() const noexcept { return {extents.data(), rank}; }
  /// Returns the extents of a value.
  static expected_extents of(const value& v) noexcept {
    expected_extents out{.rank = v.rank()};
    std::copy(v.extents().begin(), v.extents().end(), out.extents.begin());
    return out;
  }
};
/// Returns the extents 1 x channels x 1 ..., with the rank of x.
expected_extents of_channels(const value& x, std::int64_t channels) noexcept;

/// Builds the computation as which a ready request is sent. Reports the first refusal, which names a field of the ready
/// request. To add a ready request, define a struct with the fields and `to_request()`, which returns the computation
/// to send: it reads the operands, applies functions of dnn to them and writes the results. These functions check their
/// arguments; `to_request()` makes all other checks before.
class request_builder {
 public:
  using other_names = std::initializer_list<std::pair<std::string_view, std::string_view>>;
  /// Makes a builder. `fields` pairs names in the refusals of operations with the fields of the request that they stand
  /// for.
  explicit request_builder(other_names fields = {}) : fields_(fields.begin(), fields.end()) {}

  bool fine() const noexcept { return !refused_; }
  void refuse(std::string_view field, std::string_view is, std::string expected);

  /// Reads an operand. An output may be read, too: the computation then has its memory as an input and an output.
  template <access_mode M>
  value read(std::string_view field, const any_operand<M>& o) {
    return read_memory(field, in_any(o.range(), o.shape(), o.type()));
  }
  /// Reads an operand that must have these extents. The operand may omit extents of 1.
  template <access_mode M>
  value read(std::string_view field, const any_operand<M>& o, const expected_extents& e) {
    return with_extents(field, read(field, o), e);
  }
  template <access_mode M>
  std::optional<value> read(std::string_view field, const std::optional<any_operand<M>>& o, const expected_extents& e) {
    return o ? std::optional(read(field, *o, e)) : std::nullopt;
  }

  /// Writes a value to memory, which must have the extents of the value. The memory may omit extents of 1.
  template <access_mode M>
  void write(std::string_view field, const value& v, const any_operand<M>& to) {
    write_to(field, v, out_any(to.range(), to.shape(), to.type()));
  }
  template <access_mode M>
  void write(std::string_view field, const value& v, const std::optional<any_operand<M>>& to) {
    if (to) write(field, v, *to);
  }
  /// Writes alpha * v + beta * the old content of the memory.
  void write(std::string_view field, const value& v, double alpha, double beta, const out_any& to);

  /// Requires `field` to be given if `other` is given.
  void require_with(std::string_view field, bool given, std::string_view other, bool other_given);
  computation done(const computation_options& options);

 private:
  value read_memory(std::string_view field, const in_any& o);
  value with_extents(std::string_view field, const value& v, const expected_extents& e);
  void write_to(std::string_view field, const value& v, const out_any& to);

  std::vector<std::pair<std::string_view, std::string_view>> fields_;
  std::vector<written> writes_;
  std::optional<refusal> refused_;
};

}  // namespace troupe::dnn::detail
