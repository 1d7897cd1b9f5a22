// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <troupe/request/extent.hpp>
#include <troupe/request/operand.hpp>
#include <troupe/request/request.hpp>
#include <troupe/request/scalar.hpp>
#include <vector>

namespace troupe {

/// One operand while it is checked: what of it the request really touches.
struct operand_use {
  const void* field = nullptr;
  const memory_range* range = nullptr;
  std::uint64_t element_bytes = 0;
  memory_access touched;
  /// Set by `matrix`: columns of `row_bytes`, one every `pitch` bytes. 0: one contiguous run.
  std::uint64_t row_bytes = 0, pitch = 0;
  /// Touches with gaps. What lies in a gap is kept, so such a write does not replace its range as a whole.
  bool gaps = false;
};

/// Checks one request before it is queued, and learns from its `check` which parts of its operands it touches.
/// The first refusal wins; later checks do nothing. Costs no allocation unless something is refused, or there are more
/// than `max_operands` operands.
class checker {
 public:
  /// `owner` and `generation` are the device's: operands of another device are refused, and those of an earlier
  /// generation looked at for what was lost with it.
  template <request R>
  checker(const R& r, const memory_owner* owner, std::uint64_t generation) noexcept
      : request_(&r), name_(name_of<R>()), field_name_(&field_name<R>), owner_(owner), generation_(generation) {
    R::visit_fields(r, [self = this](std::string_view, const auto&... f) { (self->collect(f), ...); });
  }

  /// `field`, an `extent` or another integer, must be at least `low`.
  template <std::convertible_to<extent> F>
  void at_least(const F& field, extent low) {
    if (extent(field) < low) [[unlikely]]
      refuse_less(&field, field, low, {});
  }
  template <std::convertible_to<extent> F>
  void positive(const F& field) {
    at_least(field, 1);
  }

  /// A leading dimension for columns of `rows`: `tight` or at least `rows`. Returns the one to use.
  extent leading(const extent& ld, extent rows) {
    if (ld == tight) return rows;
    if (ld < rows) [[unlikely]]
      refuse_less(&ld, ld, rows, " (the rows it must hold), or leave it out");
    return ld;
  }

  /// The request touches `count` elements from the start of `field`.
  template <class T, access_mode M>
  void elements(const operand<T, M>& field, extent count) {
    touch(&field, count, {});
  }
  /// The request touches elements among the first `count`, and leaves others among them as they are.
  template <class T, access_mode M>
  void elements_among(const operand<T, M>& field, extent count) {
    touch(&field, count, {});
    if (!error_) use(&field).gaps = true;
  }
  /// The request touches `n` elements, one every `inc` (which may be negative, as in BLAS, but not 0).
  template <class T, access_mode M, std::convertible_to<extent> I>
  void vector(const operand<T, M>& field, extent n, const I& inc) {
    strided(&field, n, inc, &inc);
  }
  /// The request touches a column-major matrix. `ld` is mostly what `leading` answered; `tight` is `rows` here as well.
  template <class T, access_mode M>
  void matrix(const operand<T, M>& field, extent rows, extent columns, extent ld) {
    columns_of(&field, rows, columns, ld);
  }

  /// The request touches `count` such matrices of one shape, one every `stride` elements.
  template <class T, access_mode M>
  void matrices(const operand<T, M>& field, extent rows, extent columns, extent ld, extent count, extent stride) {
    strided_columns_of(&field, rows, columns, ld, count, stride);
  }

  /// In this call the inout `field` is not read (for example beta is 0): it counts as an output, for order and for
  /// retry.
  template <class T>
  void overwrites(const inout<T>& field) {
    if (!error_) use(&field).touched.mode = access_mode::write;
  }

  /// The other way round: in this call the operand at `place`, which is read, is written as well.
  void also_writes(const void* place) {
    if (!error_) use(place).touched.mode = access_mode::read_write;
  }

  /// It writes no content: it is what makes a sealed buffer one that may be written.
  void may_write_sealed() noexcept { may_write_sealed_ = true; }

  /// All operands may share memory: what comes of it is the caller's affair.
  void may_overlap_freely() noexcept { may_overlap_freely_ = true; }

  /// These two may share memory. Otherwise an operand that is written may not overlap any other. For at most
  /// `max_allowed` pairs.
  void may_overlap(const void* a, const void* b) {
    if (allowed_count_ == max_allowed) return blame("allows more than " + std::to_string(max_allowed) + " overlaps");
    allowed_[allowed_count_++] = {a, b};
  }
  static constexpr std::size_t max_allowed = 4;

  /// A number that may be read from memory when the request runs.
  template <class T>
  void number(const scalar<T>& field) {
    if (!field.by_value()) touch(&field, 1, {});
  }

  /// Any other condition on a field. `value` is what it is, `expected` what to give instead.
  template <class F>
  void require(bool holds, const F& field, std::string_view value, std::string_view expected) {
    if (!holds) [[unlikely]]
      refuse(&field, value, expected);
  }
  void refuse(const void* field, std::string_view value, std::string_view expected);

  /// Something outside the request's fields makes it impossible.
  void fail(const error& why) {
    if (!error_) error_ = why;
  }

  /// What it would write and is sealed, or was when `ticket` was given out, counts as read from now on. Was there any?
  /// To be asked again where a seal may have come since `finish`.
  bool spare_sealed(std::uint64_t ticket) noexcept;

  /// After the request's own checks: stale and overlapping operands. The error, if any of all checks refused.
  const std::optional<error>& finish();
  /// The same for a request that is not sent now: what may be different by then, whether an operand is stale or sealed,
  /// is left to the check of its sender.
  const std::optional<error>& finish_for_later();

  std::span<const operand_use> uses() const noexcept { return {first(), count_}; }
  /// Does it touch memory that only the worker of this generation has?
  bool uses_managed() const noexcept { return uses_managed_; }
  /// The one in which the request was checked.
  std::uint64_t generation() const noexcept { return generation_; }

 private:
  template <class F>
  void collect(const F& f) {
    if constexpr (operands_in<F>::any) {
      operands_in<F>::visit(f, [self = this](const void* place, const memory_range& range, std::uint64_t element_bytes,
                                             access_mode mode) { self->add(place, range, element_bytes, mode); });
    }
  }
  void add(const void* field, const memory_range& range, std::uint64_t element_bytes, access_mode mode) {
    if (!range.owner || range.owner->owner != owner_ || range.owner->address == 0) [[unlikely]]
      refuse_range(field, range);
    else if (range.owner->generation.load(std::memory_order_acquire) != generation_) [[unlikely]]
      renew(field, range);
    uses_managed_ |= range.owner && range.owner->managed;
    const operand_use u{field, &range, element_bytes, {range.address, range.address + range.bytes, mode}};
    if (count_ < max_operands) [[likely]]
      new (few_ + count_) operand_use(u);
    else
      add_to_many(u);
    ++count_;
  }
  bool writes_sealed(const operand_use& u) const noexcept {
    return u.touched.mode != access_mode::read && !may_write_sealed_ &&
           u.range->owner->seal.load(std::memory_order_seq_cst) != seal_state::open;
  }
  void add_to_many(const operand_use& u);
  const operand_use* first() const noexcept { return many_.empty() ? few_ : many_.data(); }
  operand_use* first() noexcept { return many_.empty() ? few_ : many_.data(); }
  operand_use& use(const void* field);
  void touch(const void* field, extent count, std::string_view shape);
  void strided(const void* field, extent n, extent inc, const void* inc_field);
  void columns_of(const void* field, extent rows, extent columns, extent ld);
  void strided_columns_of(const void* field, extent rows, extent columns, extent ld, extent count, extent stride);
  void refuse_short_columns(const void* field, extent ld, extent rows);
  void refuse_range(const void* field, const memory_range& range);
  void renew(const void* field, const memory_range& range);
  void pass_on(const error& cause);
  void blame(std::string_view what);
  void refuse_sealed(const void* field) {
    refuse(field, "is sealed", "a buffer that may be written: unseal() it first, or write to another");
  }
  void refuse_less(const void* field, extent value, extent low, std::string_view hint);
  bool refuse_overlap(const operand_use& a, const operand_use& b);
  void refuse_overlaps();
  void refuse_overlaps_among_many();

  const void* request_;
  std::string_view name_;
  std::string (*field_name_)(const void*, const void*);
  const memory_owner* owner_;
  std::uint64_t generation_;
  std::size_t count_ = 0, next_ = 0;  // `next_`: what `use` is probably asked for
  union {
    operand_use few_[max_operands];  // as many as there are operands; the others are never made
  };
  std::vector<operand_use> many_;  // all of them, once there are more
  bool may_overlap_freely_ = false, may_write_sealed_ = false, uses_managed_ = false;
  std::pair<const void*, const void*> allowed_[max_allowed];
  std::size_t allowed_count_ = 0;
  std::optional<error> error_;
};

/// The leading dimension or increment to use: `given`, or `otherwise` when it was left `tight`.
constexpr extent or_tight(extent given, extent otherwise) noexcept { return given == tight ? otherwise : given; }

}  // namespace troupe
