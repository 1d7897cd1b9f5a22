// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/device/recovery/quarantine/provenance.hpp>

namespace troupe {

void provenance::forget() noexcept {
  pieces_.clear();
  ++forgotten_;
}

// Splits the piece that contains `at` in its interior, if there is one.
void provenance::split(std::uint64_t at) {
  auto after = pieces_.lower_bound(at);
  if (after == pieces_.begin()) return;
  piece& before = std::prev(after)->second;
  if (before.end <= at) return;
  pieces_.emplace_hint(after, at, before);
  before.end = at;
}

void provenance::write(std::uint64_t begin, std::uint64_t end, std::uint64_t tag) {
  if (begin >= end) return;
  if (pieces_.size() >= most_pieces) forget();
  split(begin);
  split(end);
  pieces_.erase(pieces_.lower_bound(begin), pieces_.lower_bound(end));
  pieces_.emplace(begin, piece{end, begin, tag});
}

void provenance::add_content(std::uint64_t begin, std::uint64_t end, content_hash& to) const {
  auto next = pieces_.upper_bound(begin);
  if (next != pieces_.begin() && std::prev(next)->second.end > begin) --next;
  while (begin < end) {
    const bool known = next != pieces_.end() && next->first <= begin;
    const std::uint64_t until = known                   ? std::min(end, next->second.end)
                                : next != pieces_.end() ? std::min(end, next->first)
                                                        : end;
    to.add(known ? 1 : 0);  // so that a tag cannot be taken for a count of forgotten contents
    to.add(known ? next->second.tag : forgotten_);
    to.add(known ? begin - next->second.written_from : begin);
    to.add(until - begin);
    if (known) ++next;
    begin = until;
  }
}

}  // namespace troupe
