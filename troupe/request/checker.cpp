// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/request/checker.hpp>
#include <troupe/request/describe.hpp>

namespace troupe {
namespace {

// Do two column-major blocks with the same pitch share an element? b starts `shift` bytes after a; both rows fit the
// pitch.
bool blocks_meet(const operand_use& a, const operand_use& b) noexcept {
  const std::uint64_t pitch = a.pitch, shift = b.touched.begin - a.touched.begin;
  const std::uint64_t column = shift / pitch, row = shift % pitch;
  const auto columns_of = [](const operand_use& u) {
    return (u.touched.end - u.touched.begin - u.row_bytes) / u.pitch + 1;
  };
  const std::uint64_t columns = columns_of(a);
  // Element rows of b start `row` into a's column; what sticks out over the pitch lies in the next column, from its
  // top.
  if (column < columns && row < a.row_bytes) return true;
  return column + 1 < columns && row + b.row_bytes > pitch;
}

// One contiguous run that is no longer than the pitch of `other` is a block of a single column with that pitch.
void match(operand_use& run, const operand_use& other) noexcept {
  const std::uint64_t bytes = run.touched.end - run.touched.begin;
  if (run.pitch != 0 || bytes > other.pitch) return;
  run.pitch = other.pitch;
  run.row_bytes = bytes;
}

// Do two operands whose ranges overlap share an element?
bool meet(operand_use a, operand_use b) noexcept {
  match(a, b);
  match(b, a);
  if (a.pitch == 0 || a.pitch != b.pitch) return true;
  return a.touched.begin <= b.touched.begin ? blocks_meet(a, b) : blocks_meet(b, a);
}

std::string amount(std::uint64_t count, std::uint64_t element_bytes) {
  return std::to_string(count) + (element_bytes == 1 ? " byte" : " element") + (count == 1 ? "" : "s");
}

}  // namespace

operand_use& checker::use(const void* field) noexcept {
  std::size_t i = 0;
  while (uses_[i].field != field) ++i;  // every operand was collected
  return uses_[i];
}

void checker::refuse(const void* field, std::string_view value, std::string_view expected) {
  if (error_) return;
  std::string text(name_);
  text.append(": ")
      .append(field_name_(request_, field))
      .append(" ")
      .append(value)
      .append("; expected ")
      .append(expected);
  error_.emplace(error::details{.reaction = reaction::caller_bug,
                                .domain = "request",
                                .text = std::move(text),
                                .request = {std::string(name_), 0}});
}

void checker::refuse_less(const void* field, extent value, extent low, std::string_view hint) {
  std::string expected = "at least " + detail::text(low);
  if (low.overflowed()) expected = "a shape whose size fits 64 bits";
  refuse(field, "is " + detail::text(value), expected.append(hint));
}

void checker::refuse_range(const void* field, const memory_range& range) {
  if (error_) return;
  if (!range.owner)
    return refuse(field, "is an empty buffer (never allocated, or moved from)", "a buffer from this device's alloc()");
  if (range.owner->owner != owner_)
    return refuse(field, "belongs to another device", "a buffer of the device that is asked; copy it there first");
  if (auto cause = owner_->stale_cause(*range.owner.get(), range.address, range.address + range.bytes)) {
    error_ = std::move(cause);
    return;
  }
  refuse(field, "is of generation " + std::to_string(range.owner->generation),
         "generation " + std::to_string(generation_) + ": the device was restarted, allocate and upload it again");
}

void checker::touch(const void* field, extent count, std::string_view shape) {
  if (error_) return;
  operand_use& u = use(field);
  const std::uint64_t have = u.range->bytes / u.element_bytes;
  if (count.value() < 0 || static_cast<std::uint64_t>(count.value()) > have) [[unlikely]] {
    const std::string holds = "holds " + amount(have, u.element_bytes);
    if (!count.overflowed()) return refuse(field, holds, "at least " + detail::text(count).append(shape));
    const std::string_view product = shape.empty() ? "it" : shape.substr(2, shape.size() - 3);  // without " (" and ")"
    refuse(field, holds + ", and the size asked for is too large: " + std::string(product) + " does not fit 64 bits",
           "at most " + std::to_string(have));
    return;
  }
  u.touched.end = u.touched.begin + static_cast<std::uint64_t>(count.value()) * u.element_bytes;
}

void checker::strided(const void* field, extent n, const extent& inc) {
  if (error_) return;
  if (inc == extent(0)) return refuse(&inc, "is 0", "an increment that moves: 1 for neighbouring elements");
  const extent step = inc < 0 ? extent(0) - inc : inc;
  const extent count = n < 1 ? extent(0) : (n - 1) * step + 1;
  touch(field, count, " ((n - 1) * |increment| + 1)");
  operand_use& u = use(field);
  if (error_ || step == extent(1) || n <= 1) return;
  u.gaps = true;
  u.row_bytes = u.element_bytes;
  u.pitch = static_cast<std::uint64_t>(step.value()) * u.element_bytes;
}

void checker::columns_of(const void* field, extent rows, extent columns, extent ld) {
  if (error_) return;
  const extent count = rows < 1 || columns < 1 ? extent(0) : (columns - 1) * ld + rows;
  touch(field, count, " ((columns - 1) * leading dimension + rows)");
  if (error_) return;
  operand_use& u = use(field);
  if (ld == rows || columns <= 1) return;
  u.row_bytes = static_cast<std::uint64_t>(rows.value()) * u.element_bytes;
  u.pitch = static_cast<std::uint64_t>(ld.value()) * u.element_bytes;
  u.gaps = true;
}

void checker::refuse_overlaps() {
  for (std::size_t i = 0; i < count_; ++i) {
    for (std::size_t j = i + 1; j < count_; ++j) {
      const operand_use &a = uses_[i], &b = uses_[j];
      if (a.touched.mode == access_mode::read && b.touched.mode == access_mode::read) continue;
      if (a.touched.begin >= b.touched.end || b.touched.begin >= a.touched.end) [[likely]]
        continue;
      if (!meet(a, b)) continue;
      if ((allowed_.first == a.field && allowed_.second == b.field) ||
          (allowed_.first == b.field && allowed_.second == a.field))
        continue;
      const operand_use &written = b.touched.mode == access_mode::read ? a : b,
                        &other = b.touched.mode == access_mode::read ? b : a;
      return refuse(written.field, "overlaps " + std::string(field_name_(request_, other.field)),
                    "separate memory: it is written while the other is in use");
    }
  }
}

const std::optional<error>& checker::finish() {
  if (error_) [[unlikely]]
    return error_;
  for (operand_use& u : std::span(uses_, count_)) {
    if (u.gaps && u.touched.mode == access_mode::write) u.touched.mode = access_mode::read_write;
    const block& b = *u.range->owner.get();
    if (u.touched.mode == access_mode::write || b.stale_marks.load(std::memory_order_acquire) == 0) [[likely]]
      continue;
    if (auto cause = owner_->stale_cause(b, u.touched.begin, u.touched.end)) {
      error::details d = cause->all();
      if (d.chain.size() < max_chain) d.chain.push_back({std::string(name_), 0});
      error_.emplace(std::move(d));
      return error_;
    }
  }
  if (count_ > 1) refuse_overlaps();
  return error_;
}

}  // namespace troupe
