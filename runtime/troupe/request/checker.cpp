// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/describe.hpp>
#include <tuple>

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

// From the first to the last of a matrix; a size that overflowed is not one that is missing.
extent elements_of(extent rows, extent columns, extent ld) {
  if (rows.overflowed() || columns.overflowed()) return extent::overflow();
  return rows < 1 || columns < 1 ? extent(0) : (columns - 1) * ld + rows;
}

std::string amount(std::uint64_t count, std::uint64_t element_bytes) {
  return cat(count, element_bytes == 1 ? " byte" : " element", count == 1 ? "" : "s");
}

}  // namespace

void checker::add_to_many(const operand_use& u) {
  if (many_.empty()) many_.assign(few_, few_ + count_);
  many_.push_back(u);
}

operand_use& checker::use(const void* field) {
  // Every operand was collected, and checks mostly come in the order of the fields.
  operand_use* const all = first();
  for (std::size_t tried = 0, i = next_; tried < count_; ++tried) {
    const std::size_t after = i + 1 < count_ ? i + 1 : 0;
    if (all[i].field == field) {
      next_ = after;
      return all[i];
    }
    i = after;
  }
  blame("names a place that holds no operand: a number given by value, or an optional that was left out");
  static const memory_range nothing;
  thread_local operand_use none;  // refused already: nobody reads what is written there
  return none = {.range = &nothing, .element_bytes = 1, .touched = {}};
}

// The request's own `check` is wrong, not its caller.
void checker::blame(std::string_view what) {
  if (!error_)
    error_.emplace(error::details{.reaction = reaction::fatal,
                                  .domain = "request",
                                  .text = std::string(name_).append(": its check() ").append(what),
                                  .request = {std::string(name_), 0}});
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

// The error that an operand carries becomes this request's.
void checker::pass_on(const error& cause) { error_.emplace(cause.passed_on_to({std::string(name_), 0})); }

void checker::refuse_range(const void* field, const memory_range& range) {
  if (error_) return;
  if (!range.owner)
    return refuse(field, "is an empty buffer (never allocated, or moved from)", "a buffer from this device's alloc()");
  if (range.owner->owner != owner_)
    return refuse(field, "belongs to another device",
                  "one of the device that is asked; copy or compile it there first");
  // Its allocation failed, which the owner remembers.
  if (auto cause = owner_->stale_cause(*range.owner.get(), range.address, range.address + range.bytes))
    pass_on(*cause);
  else
    refuse(field, "has no memory", "a buffer from this device's alloc()");
}

// Of another generation. What went with its worker cannot even be written.
void checker::renew(const void* field, const memory_range& range) {
  range.owner->owner->renew(*range.owner.get());
  if (range.owner->gone.load(std::memory_order_acquire)) refuse_range(field, range);
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
           cat("at most ", have));
    return;
  }
  u.touched.end = u.touched.begin + static_cast<std::uint64_t>(count.value()) * u.element_bytes;
}

void checker::strided(const void* field, extent n, extent inc, const void* inc_field) {
  if (error_) return;
  inc = or_tight(inc, 1);
  if (inc == extent(0)) return refuse(inc_field, "is 0", "an increment that moves: 1 for neighbouring elements");
  const extent step = inc < 0 ? extent(0) - inc : inc;
  const extent count = n < 1 ? extent(0) : (n - 1) * step + 1;
  touch(field, count, " ((n - 1) * |increment| + 1)");
  operand_use& u = use(field);
  if (error_ || step == extent(1) || n <= 1) return;
  u.gaps = true;
  u.row_bytes = u.element_bytes;
  u.pitch = static_cast<std::uint64_t>(step.value()) * u.element_bytes;
}

// Of a `check` that has not asked `leading`, which names the field that is wrong.
void checker::refuse_short_columns(const void* field, extent ld, extent rows) {
  refuse(field, "has a leading dimension of " + detail::text(ld),
         "at least " + detail::text(rows) + " (the rows it must hold)");
}

void checker::columns_of(const void* field, extent rows, extent columns, extent ld) {
  if (error_) return;
  ld = or_tight(ld, rows);
  if (ld < rows) return refuse_short_columns(field, ld, rows);
  const extent count = elements_of(rows, columns, ld);
  touch(field, count, " ((columns - 1) * leading dimension + rows)");
  if (error_) return;
  operand_use& u = use(field);
  if (ld == rows || columns <= 1) return;
  u.row_bytes = static_cast<std::uint64_t>(rows.value()) * u.element_bytes;
  u.pitch = static_cast<std::uint64_t>(ld.value()) * u.element_bytes;
  u.gaps = true;
}

void checker::strided_columns_of(const void* field, extent rows, extent columns, extent ld, extent count,
                                 extent stride) {
  if (error_) return;
  if (count <= 1) return columns_of(field, rows, columns, ld);
  ld = or_tight(ld, rows);
  if (ld < rows) return refuse_short_columns(field, ld, rows);
  const extent one = elements_of(rows, columns, ld);
  stride = or_tight(stride, one);
  touch(field, (count - 1) * stride + one, " ((batch - 1) * stride + (columns - 1) * leading dimension + rows)");
  if (error_) return;
  operand_use& u = use(field);
  const auto bytes = [&u](extent elements) { return static_cast<std::uint64_t>(elements.value()) * u.element_bytes; };
  if (stride == one) {  // one run after another
    u.gaps = ld != rows && columns > 1;
    return;
  }
  u.gaps = stride > one || ld > rows;
  const extent beside = (count - 1) * stride + rows;
  if (stride == ld * columns || (columns <= 1 && stride >= rows))  // one long matrix
    u.row_bytes = bytes(rows), u.pitch = bytes(columns <= 1 ? stride : ld);
  else if (beside <= ld)  // blocks of one matrix, side by side
    u.row_bytes = bytes(beside), u.pitch = bytes(ld), u.gaps = beside < ld || stride > rows;
}

bool checker::refuse_overlap(const operand_use& a, const operand_use& b) {
  if (a.touched.mode == access_mode::read && b.touched.mode == access_mode::read) return false;
  if (a.touched.begin >= b.touched.end || b.touched.begin >= a.touched.end) [[likely]]
    return false;
  if (!meet(a, b)) return false;
  for (const auto& [x, y] : std::span(allowed_, allowed_count_))
    if ((x == a.field && y == b.field) || (x == b.field && y == a.field)) return false;
  const operand_use &written = b.touched.mode == access_mode::read ? a : b,
                    &other = b.touched.mode == access_mode::read ? b : a;
  refuse(written.field, "overlaps " + field_name_(request_, other.field),
         "separate memory: it is written while the other is in use");
  return true;
}

void checker::refuse_overlaps() {
  const std::span<const operand_use> all = uses();
  if (all.size() > max_operands) return refuse_overlaps_among_many();
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (refuse_overlap(all[i], all[j])) return;
}

// Each written range against those that begin before it ends, from the nearest backwards, as long as one of them may
// still reach it. Costs a sort and a step per operand where nothing overlaps; an input that all parts of a batch share
// counts once.
void checker::refuse_overlaps_among_many() {
  std::vector<const operand_use*> all;
  for (const operand_use& u : uses()) all.push_back(&u);
  const auto key = [](const operand_use* u) {
    return std::tuple(u->touched.begin, u->touched.end, u->pitch, u->row_bytes, u->touched.mode != access_mode::read);
  };
  std::sort(all.begin(), all.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  const auto same = [&](const auto* a, const auto* b) {
    return a->touched.mode == access_mode::read && key(a) == key(b);
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  std::vector<std::uint64_t> reach(all.size());  // the furthest end among [0, i]
  for (std::size_t i = 0; i < all.size(); ++i) reach[i] = std::max(i == 0 ? 0 : reach[i - 1], all[i]->touched.end);
  std::vector<std::size_t> written;  // positions, ascending, with how far they reach
  std::vector<std::uint64_t> written_reach;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool reads = all[i]->touched.mode == access_mode::read;
    if (reads) {
      for (std::size_t w = written.size(); w-- > 0 && written_reach[w] > all[i]->touched.begin;)
        if (refuse_overlap(*all[written[w]], *all[i])) return;
      continue;
    }
    for (std::size_t j = i; j-- > 0 && reach[j] > all[i]->touched.begin;)
      if (refuse_overlap(*all[j], *all[i])) return;
    written.push_back(i);
    written_reach.push_back(std::max(written_reach.empty() ? 0 : written_reach.back(), all[i]->touched.end));
  }
}

bool checker::spare_sealed(std::uint64_t ticket) noexcept {
  bool any = false;
  for (operand_use& u : std::span(first(), count_)) {
    if (u.touched.mode == access_mode::read || may_write_sealed_ || !u.range->owner) continue;
    // In this order: the thread that ends a seal says when before it is seen to be open.
    const block& b = *u.range->owner.get();
    if (b.seal.load(std::memory_order_seq_cst) == seal_state::open && b.unsealed_at.load() <= ticket) continue;
    u.touched.mode = access_mode::read;
    any = true;
  }
  return any;
}

const std::optional<error>& checker::finish_for_later() {
  if (error_) return error_;
  for (operand_use& u : std::span(first(), count_))
    if (u.gaps && u.touched.mode == access_mode::write) u.touched.mode = access_mode::read_write;
  if (count_ > 1 && !may_overlap_freely_) refuse_overlaps();
  return error_;
}

const std::optional<error>& checker::finish() {
  if (error_) [[unlikely]]
    return error_;
  for (operand_use& u : std::span(first(), count_)) {
    if (u.gaps && u.touched.mode == access_mode::write) u.touched.mode = access_mode::read_write;
    const block& b = *u.range->owner.get();
    if (writes_sealed(u)) [[unlikely]] {
      refuse_sealed(u.field);
      u.touched.mode = access_mode::read;  // whatever it is by now, nothing was taken from it
      spare_sealed(UINT64_MAX);
      return error_;
    }
    if (u.touched.mode == access_mode::write || b.stale_marks.load(std::memory_order_acquire) == 0) [[likely]]
      continue;
    if (auto cause = owner_->stale_cause(b, u.touched.begin, u.touched.end)) {
      pass_on(*cause);
      return error_;
    }
  }
  if (count_ > 1 && !may_overlap_freely_) refuse_overlaps();
  return error_;
}

}  // namespace troupe
