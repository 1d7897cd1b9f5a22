// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/operands/overlap.hpp>

namespace troupe {
namespace {

// Returns the number of elements from the first to the last of a matrix; `overflow()` if it does not fit.
[[gnu::always_inline]] inline extent elements_of(extent rows, extent columns, extent ld) {
  const std::int64_t m = rows.value(), n = columns.value(), pitch = ld.value();
  if (m > 0 && n > 0 && ((m | n | pitch) >> 31) == 0) [[likely]]  // fast if nothing can overflow
    return (n - 1) * pitch + m;
  if (rows.overflowed() || columns.overflowed()) return extent::overflow();
  return rows < 1 || columns < 1 ? extent(0) : (columns - 1) * ld + rows;
}

// Refuses a matrix whose `check` has passed a leading dimension without a call of `leading`, which would name its
// field.
void refuse_short_columns(checker& c, const void* field, extent ld, extent rows) {
  c.refuse(field, "has a leading dimension of " + detail::text(ld),
           "at least " + detail::text(rows) + " (the rows it must hold)");
}

}  // namespace

void checker::may_overlap(const void* a, const void* b) {
  if (allowed_count_ == max_allowed)
    return refusal_.blame(cat("allows more than ", max_allowed, " pairs of operands to overlap"));
  allowed_[allowed_count_++] = {a, b};
}

void checker::refuse(const void* field, std::string_view value, std::string_view expected) {
  refusal_.refuse(field, value, expected);
}

operand_use& detail::no_operand(request_refusal& r) {
  r.blame("names a place that holds no operand: a number given by value, or an optional that was left out");
  static const memory_range nothing;
  thread_local operand_use none;  // the request is refused already, so nobody reads what is written here
  return none = {.range = &nothing, .element_bytes = 1, .touched = {}};
}

void checker::refuse_range(const void* field, const memory_range& range) {
  if (refusal_) return;
  if (!range.owner)
    return refuse(field, "is an empty buffer (never allocated, or moved from)", "a buffer from this device's alloc()");
  if (range.owner->owner != owner_)
    return refuse(field, "belongs to another device", "one of this device; copy or compile it there first");
  // The owner knows why there is no memory. A wrong slice or size is no stale data.
  if (auto cause = owner_->stale_cause(*range.owner.get(), range.address, range.address + range.bytes))
    refusal_.pass_on(*cause, cause->reaction() != reaction::caller_bug);
  else
    refuse(field, "has no memory", "a buffer from this device's alloc()");
}

// Renews the block of an earlier generation. Memory that was lost with its worker may not even be written.
void checker::renew(const void* field, const memory_range& range) {
  range.owner->owner->renew(*range.owner.get());
  if (range.owner->gone.load(std::memory_order_acquire)) refuse_range(field, range);
}

void checker::strided(const void* field, extent n, extent inc, const void* inc_field) {
  if (refusal_) return;
  inc = or_tight(inc, 1);
  if (inc == extent(0)) return refuse(inc_field, "is 0", "a nonzero increment: 1 for adjacent elements");
  const extent step = inc < 0 ? extent(0) - inc : inc;
  const extent count = n < 1 ? extent(0) : (n - 1) * step + 1;
  operand_use* const u = touch(field, count, " ((n - 1) * |increment| + 1)");
  if (u == nullptr || step == extent(1) || n <= 1) return;
  u->gaps = true;
  u->row_bytes = u->element_bytes;
  u->pitch = static_cast<std::uint64_t>(step.value()) * u->element_bytes;
}

void checker::columns_of(const void* field, extent rows, extent columns, extent ld) {
  if (refusal_) return;
  ld = or_tight(ld, rows);
  if (ld < rows) return refuse_short_columns(*this, field, ld, rows);
  operand_use* const u = touch(field, elements_of(rows, columns, ld), " ((columns - 1) * leading dimension + rows)");
  if (u == nullptr || ld == rows || columns <= 1) return;
  u->row_bytes = static_cast<std::uint64_t>(rows.value()) * u->element_bytes;
  u->pitch = static_cast<std::uint64_t>(ld.value()) * u->element_bytes;
  u->gaps = true;
}

void checker::strided_columns_of(const void* field, extent rows, extent columns, extent ld, extent count,
                                 extent stride) {
  if (refusal_) return;
  if (count <= 1) return columns_of(field, rows, columns, ld);
  ld = or_tight(ld, rows);
  if (ld < rows) return refuse_short_columns(*this, field, ld, rows);
  const extent one = elements_of(rows, columns, ld);
  stride = or_tight(stride, one);
  operand_use* const touched =
      touch(field, (count - 1) * stride + one, " ((batch - 1) * stride + (columns - 1) * leading dimension + rows)");
  if (touched == nullptr) return;
  operand_use& u = *touched;
  const auto bytes = [&u](extent elements) { return static_cast<std::uint64_t>(elements.value()) * u.element_bytes; };
  if (stride == one) {  // the matrices are adjacent
    u.gaps = ld != rows && columns > 1;
    return;
  }
  u.gaps = stride > one || ld > rows;
  const extent beside = (count - 1) * stride + rows;
  if (stride == ld * columns || (columns <= 1 && stride >= rows))  // they form one long matrix
    u.row_bytes = bytes(rows), u.pitch = bytes(columns <= 1 ? stride : ld);
  else if (beside <= ld)  // they are column blocks of one matrix, side by side
    u.row_bytes = bytes(beside), u.pitch = bytes(ld), u.gaps = beside < ld || stride > rows;
}

// A view was checked when it was made, and its memory is the range that it spans.
void checker::view_at(const void* field, const matrix_shape& s) {
  if (refusal_) return;
  if (s.rows == 0 || s.columns == 0) return;  // no elements, whatever the strides
  if (s.row_stride == 1 || s.rows == 1)
    return columns_of(field, s.rows, s.columns, s.columns == 1 ? s.rows : s.column_stride);
  if (s.column_stride == 1 || s.columns == 1)
    return columns_of(field, s.columns, s.rows, s.rows == 1 ? s.columns : s.row_stride);
  use(field).gaps = true;
}

void checker::view_at(const void* field, const tensor_shape& s) {
  if (refusal_) return;
  extent elements = 1;
  for (std::size_t i = 0; i < s.rank; ++i) elements = elements * s.extents[i];
  operand_use& u = use(field);
  u.gaps = elements != extent(u.range->bytes / u.element_bytes);
}

void checker::refuse_overlaps() {
  if (may_overlap_freely_ || (uses_.size() <= max_operands && all_apart(uses()))) [[likely]]
    return;
  if (const auto found = find_overlap(uses(), std::span(allowed_, allowed_count_)))
    refuse(found->written->field, "overlaps " + refusal_.field_name(found->other->field),
           "separate memory, because one of them is written while the other is in use");
}

bool checker::writes_sealed(const operand_use& u) const noexcept {
  return u.touched.mode != access_mode::read && !may_write_sealed_ &&
         u.range->owner->seal.load(std::memory_order_seq_cst) != seal_state::open;
}

bool checker::spare_sealed(std::uint64_t ticket) noexcept {
  bool any = false;
  for (operand_use& u : uses_.all()) {
    if (u.touched.mode == access_mode::read || may_write_sealed_ || !u.range->owner) continue;
    // Read `seal` first: the thread that ends a seal writes the ticket before it opens the block.
    const block& b = *u.range->owner.get();
    if (b.seal.load(std::memory_order_seq_cst) == seal_state::open && b.unsealed_at.load() <= ticket) continue;
    u.touched.mode = access_mode::read;
    any = true;
  }
  return any;
}

// Reports errors of the request itself before errors of the data that it reads.
const std::optional<error>& checker::finish(bool is_sent_later) {
  if (refusal_) [[unlikely]]
    return refusal_.why();
  bool marked = false;
  for (operand_use& u : uses_.all()) {
    if (u.gaps && u.touched.mode == access_mode::write) u.touched.mode = access_mode::read_write, u.keeps = true;
    if (is_sent_later) continue;
    if (writes_sealed(u)) [[unlikely]] {
      refuse(u.field, "is sealed", "a buffer that may be written: unseal() it first, or write to another");
      u.touched.mode = access_mode::read;  // even if the seal ends now: a refused request does not write
      spare_sealed(UINT64_MAX);
      return refusal_.why();
    }
    marked |= reads(u.touched.mode) && u.range->owner->stale_marks.load(std::memory_order_acquire) != 0;
  }
  refuse_overlaps();
  if (!marked || refusal_) [[likely]]
    return refusal_.why();
  for (const operand_use& u : uses()) {
    if (!reads(u.touched.mode) || refusal_) continue;
    if (auto cause = owner_->stale_cause(*u.range->owner.get(), u.touched.begin, u.touched.end))
      u.keeps ? refusal_.refuse_to_keep(u.field, *cause) : refusal_.pass_on(*cause);
  }
  return refusal_.why();
}

}  // namespace troupe
