// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/request/operands/overlap.hpp>
#include <tuple>
#include <vector>

namespace troupe {
namespace {

using allowed_pairs = std::span<const std::pair<const void*, const void*>>;

// Returns true if two column-major blocks with the same pitch share an element. Precondition: `b` begins at or after
// `a`, and neither has columns longer than the pitch.
bool blocks_meet(const operand_use& a, const operand_use& b) noexcept {
  const std::uint64_t pitch = a.pitch, shift = b.touched.begin - a.touched.begin;
  const std::uint64_t column = shift / pitch, row = shift % pitch;
  const auto columns_of = [](const operand_use& u) {
    return (u.touched.end - u.touched.begin - u.row_bytes) / u.pitch + 1;
  };
  const std::uint64_t columns = columns_of(a);
  // The columns of b begin `row` bytes into columns of a. Their part beyond the pitch is at the top of the next column
  // of a.
  if (column < columns && row < a.row_bytes) return true;
  return column + 1 < columns && row + b.row_bytes > pitch;
}

// Treats a contiguous range that is no longer than the pitch of `other` as a block of one column with that pitch.
void match(operand_use& run, const operand_use& other) noexcept {
  const std::uint64_t bytes = run.touched.end - run.touched.begin;
  if (run.pitch != 0 || bytes > other.pitch) return;
  run.pitch = other.pitch;
  run.row_bytes = bytes;
}

// Returns true if two operands whose ranges overlap share an element.
bool meet(operand_use a, operand_use b) noexcept {
  match(a, b);
  match(b, a);
  if (a.pitch == 0 || a.pitch != b.pitch) return true;
  return a.touched.begin <= b.touched.begin ? blocks_meet(a, b) : blocks_meet(b, a);
}

std::optional<operand_overlap> overlap_of(const operand_use& a, const operand_use& b, allowed_pairs allowed) {
  if (a.touched.mode == access_mode::read && b.touched.mode == access_mode::read) return std::nullopt;
  if (a.touched.begin >= b.touched.end || b.touched.begin >= a.touched.end) [[likely]]
    return std::nullopt;
  if (a.touched.begin == a.touched.end || b.touched.begin == b.touched.end) return std::nullopt;  // one is empty
  if (!meet(a, b)) return std::nullopt;
  for (const auto& [x, y] : allowed)
    if ((x == a.field && y == b.field) || (x == b.field && y == a.field)) return std::nullopt;
  if (b.touched.mode == access_mode::read) return operand_overlap{&a, &b};
  return operand_overlap{&b, &a};
}

// Compares each written range with the ranges that begin before it ends, backwards from the nearest, as long as an
// earlier one may reach into it. If nothing overlaps, the cost is a sort and one step for each operand. An input that
// occurs many times in a batch counts once.
std::optional<operand_overlap> find_overlap_among_many(std::span<const operand_use> uses, allowed_pairs allowed) {
  std::vector<const operand_use*> all;
  for (const operand_use& u : uses) all.push_back(&u);
  const auto key = [](const operand_use* u) {
    return std::tuple(u->touched.begin, u->touched.end, u->pitch, u->row_bytes, u->touched.mode != access_mode::read);
  };
  std::sort(all.begin(), all.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
  const auto same = [&](const auto* a, const auto* b) {
    return a->touched.mode == access_mode::read && key(a) == key(b);
  };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  std::vector<std::uint64_t> reach(all.size());  // the highest end of the ranges [0, i]
  for (std::size_t i = 0; i < all.size(); ++i) reach[i] = std::max(i == 0 ? 0 : reach[i - 1], all[i]->touched.end);
  std::vector<std::size_t> written;  // ascending indices of written ranges
  std::vector<std::uint64_t> written_reach;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]->touched.mode == access_mode::read) {
      for (std::size_t w = written.size(); w-- > 0 && written_reach[w] > all[i]->touched.begin;)
        if (const auto found = overlap_of(*all[written[w]], *all[i], allowed)) return found;
      continue;
    }
    for (std::size_t j = i; j-- > 0 && reach[j] > all[i]->touched.begin;)
      if (const auto found = overlap_of(*all[j], *all[i], allowed)) return found;
    written.push_back(i);
    written_reach.push_back(std::max(written_reach.empty() ? 0 : written_reach.back(), all[i]->touched.end));
  }
  return std::nullopt;
}

}  // namespace

std::optional<operand_overlap> find_overlap(std::span<const operand_use> all, allowed_pairs allowed) {
  if (all.size() > max_operands) return find_overlap_among_many(all, allowed);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      if (const auto found = overlap_of(all[i], all[j], allowed)) return found;
  return std::nullopt;
}

}  // namespace troupe
