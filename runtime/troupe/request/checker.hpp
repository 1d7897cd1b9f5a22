// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <troupe/request/extent.hpp>
#include <troupe/request/operands/operand.hpp>
#include <troupe/request/operands/operand_uses.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/operands/view_operand.hpp>
#include <troupe/request/ready_request.hpp>
#include <troupe/request/request_refusal.hpp>
#include <utility>

namespace troupe {

namespace detail {
/// Blames a `check` that names a place without an operand. Returns an operand_use that nobody reads.
operand_use& no_operand(request_refusal& r);
}  // namespace detail

/// Checks a request before it is queued, and learns from its `check` which parts of its operands it touches. Refuses
/// unknown values of enumerations that TROUPE_ENUM describes. Keeps the first refusal; later checks then do nothing.
/// Allocates only for a refusal, or for more than `max_operands` operands.
class checker {
 public:
  /// `owner` and `generation` are those of the device. Operands of another device are refused; for operands of an
  /// earlier generation, finds out which of their bytes were lost.
  /// `r` is a request or a `ready_and_sent`. Of the latter, `checked()` is checked, and errors name the ready request.
  template <class R>
  checker(const R& r, const memory_owner* owner, std::uint64_t generation) noexcept
      : refusal_(detail::refusal_of(r)), owner_(owner), generation_(generation) {
    const auto& checked = detail::checked_of(r);
    checked.visit_fields(checked, [self = this](std::string_view, const auto&... f) { (self->collect(f), ...); });
    if constexpr (detail::is_ready_and_sent<R>) refusal_.check_enumerators(r.ready);
    refusal_.check_enumerators(checked);
  }

  /// Refuses the request unless `field`, an `extent` or another integer, is at least `low`.
  template <std::convertible_to<extent> F>
  void at_least(const F& field, extent low) {
    if (extent(field) < low) [[unlikely]]
      refusal_.refuse_less(&field, field, low, {});
  }
  template <std::convertible_to<extent> F>
  void positive(const F& field) {
    at_least(field, 1);
  }

  /// Checks a leading dimension for columns of `rows` elements: it must be `tight` or at least `rows`. Returns the
  /// leading dimension to use.
  extent leading(const extent& ld, extent rows) {
    if (ld == tight) return rows;
    if (ld < rows) [[unlikely]]
      refusal_.refuse_less(&ld, ld, rows, " (the rows it must hold), or leave it out");
    return ld;
  }

  /// States that the request touches `count` elements from the start of `field`.
  template <class T, access_mode M>
  void elements(const operand<T, M>& field, extent count) {
    touch(&field, count, {});
  }
  /// States that the request touches some of the first `count` elements, and leaves the others unchanged.
  template <class T, access_mode M>
  void elements_among(const operand<T, M>& field, extent count) {
    touch(&field, count, {});
    leaves_some(&field);
  }
  /// States that the request touches `n` elements, one every `inc` (which may be negative, as in BLAS, but not 0).
  template <class T, access_mode M, std::convertible_to<extent> I>
  void vector(const operand<T, M>& field, extent n, const I& inc) {
    strided(&field, n, inc, &inc);
  }
  /// States that the request touches a column-major matrix. `ld` is usually the result of `leading`; `tight` means
  /// `rows`.
  template <class T, access_mode M>
  void matrix(const operand<T, M>& field, extent rows, extent columns, extent ld) {
    columns_of(&field, rows, columns, ld);
  }
  /// States that the request touches `count` such matrices of one shape, which begin `stride` elements apart.
  template <class T, access_mode M>
  void matrices(const operand<T, M>& field, extent rows, extent columns, extent ld, extent count, extent stride) {
    strided_columns_of(&field, rows, columns, ld, count, stride);
  }
  /// States that the request touches all elements of a view (`matrix_operand`, `tensor_operand` or `any_operand`), and
  /// no bytes between them.
  template <class View>
  void view(const View& field) {
    view_at(&field, field.shape());
  }
  /// States the same of a view at `place`, which is one of several operands in a field.
  void view_at(const void* place, const matrix_shape& s);
  void view_at(const void* place, const tensor_shape& s);

  /// States that the request may read this number from memory when it runs.
  template <class T>
  void number(const scalar<T>& field) {
    if (!field.by_value()) touch(&field, 1, {});
  }

  /// States that this request does not read the inout `field`, for example because beta is 0: for ordering and retries
  /// the field counts as an output.
  template <class T>
  void overwrites(const inout<T>& field) {
    if (!refusal_) use(&field).touched.mode = access_mode::write;
  }
  /// States that some elements of the written operand at `place` may keep their values.
  void leaves_some(const void* place) {
    if (!refusal_) use(place).gaps = true;
  }
  /// States that the request also writes the operand at `place`, which it reads.
  void also_writes(const void* place) {
    if (!refusal_) use(place).touched.mode = access_mode::read_write;
  }
  /// States that the request only reads the operands in `field`, such as those of a request that it prepares.
  template <class F>
  void only_reads(const F& field) {
    if (refusal_) return;
    operands_in<F>::visit(
        field, [self = this](const void* place, const auto&...) { self->use(place).touched.mode = access_mode::read; });
  }

  /// States that the request may write sealed buffers: it changes no content, but ends the seal.
  void may_write_sealed() noexcept { may_write_sealed_ = true; }
  /// States that all operands may share memory. What the request then computes is up to the caller.
  void may_overlap_freely() noexcept { may_overlap_freely_ = true; }
  /// States that these two operands may share memory. All others must not overlap an operand that is written. At most
  /// `max_allowed` pairs.
  void may_overlap(const void* a, const void* b);
  static constexpr std::size_t max_allowed = 4;

  /// Refuses the request unless `holds`. `value` says what the field is, `expected` what it should be.
  template <class F>
  void require(bool holds, const F& field, std::string_view value, std::string_view expected) {
    if (!holds) [[unlikely]]
      refuse(&field, value, expected);
  }
  void refuse(const void* field, std::string_view value, std::string_view expected);
  /// Returns the address of the field with this name in the ready request; null if the request is not a ready request,
  /// or has no such field.
  const void* ready_field(std::string_view name) const { return refusal_.find_field(name); }
  /// Refuses the request for a reason outside its fields. Set `stale_data` if the reason is that data which it reads is
  /// stale.
  void fail(const error& why, bool stale_data = false) { refusal_.fail(why, stale_data); }

  /// Changes the access of sealed operands that the request would write to a read, also if they were sealed when
  /// `ticket` was given out. Returns true if there are any. Must be called again if a buffer may have been sealed since
  /// `finish`.
  bool spare_sealed(std::uint64_t ticket) noexcept;
  /// Checks for sealed, overlapping and stale operands, after the request's own checks. Returns the first refusal, or
  /// nothing. With `is_sent_later`, does not check for sealed and stale operands: both may change until the request is
  /// sent.
  const std::optional<error>& finish(bool is_sent_later = false);

  /// Returns the refusal if its only reason is that data which the request reads is stale; otherwise null.
  const error* stale_data() const noexcept { return refusal_.is_passed_on() ? &*refusal_.why() : nullptr; }

  std::span<const operand_use> uses() const noexcept { return uses_.all(); }
  /// Returns true if the request touches managed memory, which only the worker of this generation has.
  bool uses_managed() const noexcept { return uses_managed_; }
  std::uint64_t generation() const noexcept { return generation_; }

 private:
  template <class F>
  void collect(const F& f) {
    if constexpr (operands_in<F>::any) {
      operands_in<F>::visit(f, [self = this](const void* field, const memory_range& range, std::uint64_t element_bytes,
                                             access_mode mode) {
        const block* const b = range.owner.get();
        if (b == nullptr || b->owner != self->owner_ || b->address == 0) [[unlikely]]
          self->refuse_range(field, range);
        else if (b->generation.load(std::memory_order_acquire) != self->generation_) [[unlikely]]
          self->renew(field, range);
        self->uses_managed_ |= b != nullptr && b->managed;
        self->uses_.add(field, &range, element_bytes, memory_access{range.address, range.address + range.bytes, mode});
      });
    }
  }
  bool writes_sealed(const operand_use& u) const noexcept;
  // Returns the operand at this address of the request.
  operand_use& use(const void* field) {
    operand_use* const found = uses_.find(field);
    return found != nullptr ? *found : detail::no_operand(refusal_);
  }
  // Returns the operand that the request touches; null if the request is refused.
  operand_use* touch(const void* field, extent count, std::string_view shape) {
    if (refusal_) [[unlikely]]
      return nullptr;
    operand_use& u = use(field);
    std::uint64_t bytes = 0;
    if (count.value() < 0 ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(count.value()), u.element_bytes, &bytes) ||
        bytes > u.range->bytes) [[unlikely]]
      return refusal_.refuse_short(u, count, shape), nullptr;
    u.touched.end = u.touched.begin + bytes;
    return &u;
  }
  void strided(const void* field, extent n, extent inc, const void* inc_field);
  void columns_of(const void* field, extent rows, extent columns, extent ld);
  void strided_columns_of(const void* field, extent rows, extent columns, extent ld, extent count, extent stride);
  void refuse_range(const void* field, const memory_range& range);
  void renew(const void* field, const memory_range& range);
  void refuse_overlaps();

  request_refusal refusal_;
  const memory_owner* owner_;
  std::uint64_t generation_;
  operand_uses uses_;
  bool may_overlap_freely_ = false, may_write_sealed_ = false, uses_managed_ = false;
  std::pair<const void*, const void*> allowed_[max_allowed];
  std::size_t allowed_count_ = 0;
};

}  // namespace troupe
