// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/memory/blocks/stale_ranges.hpp>

namespace troupe {
namespace {

// Adds what to do about the outputs of a refused request, which is the last one that the error names.
error with_remedy(const error& why) {
  static constexpr std::string_view remedy =
      " did not run: keep_content makes its output valid again, as it was before)";
  error::details d = why.all();
  const request_id& refused = d.chain.empty() ? d.request : d.chain.back();
  if (d.text.find(remedy) == std::string::npos)
    d.text += cat(" (", refused.name.empty() ? "the request" : refused.name, remedy);
  return error(std::move(d));
}

}  // namespace

void stale_ranges::add(mark m) {
  if (m.begin == m.end) return;  // an empty range cannot be stale
  reach_ = std::max(reach_, m.end);
  marks_.push_back(std::move(m));
}

void stale_ranges::add_loss(range r, std::uint64_t place, error cause) {
  std::erase_if(marks_, [](const mark& m) { return m.lost; });
  add({r.begin, r.end, place, std::move(cause), true});
}

void stale_ranges::add_refusal(range r, std::uint64_t place, const error& cause) {
  if (r.begin == r.end) return;
  const auto wrong =
      std::find_if(marks_.begin(), marks_.end(), [&](const mark& m) { return !m.intact() && m.touches(r); });
  mark refusal{r.begin, r.end, place, cause, false, true};
  if (wrong == marks_.end())
    refusal.cause = with_remedy(cause);
  else
    refusal.spoiled_by = wrong->refused ? wrong->spoiled_by : std::make_shared<const error>(wrong->cause);
  // Only the newest failure of a range is reported.
  cut(r, place + 1);
  add(std::move(refusal));
}

void stale_ranges::cut(range r, std::uint64_t before, bool losses) {
  if (r.begin >= reach_ || r.begin == r.end)
    return;  // fast for thousands of outputs of one request, which come in order
  for (std::size_t i = 0; i < marks_.size();) {
    mark& m = marks_[i];
    const bool front = m.begin < r.begin, back = r.end < m.end;
    if ((m.place >= before && !(losses && m.lost)) || !m.touches(r)) {
      ++i;
    } else if (front && back) {
      mark rest = m;
      rest.begin = r.end;
      m.end = r.begin;
      marks_.push_back(std::move(rest));
    } else if (front) {
      m.end = r.begin;
    } else if (back) {
      m.begin = r.end;
    } else {
      if (i + 1 != marks_.size()) m = std::move(marks_.back());
      marks_.pop_back();
    }
  }
  if (marks_.empty()) reach_ = 0;
}

std::optional<error> stale_ranges::forgive(range r) {
  if (r.begin == r.end) return {};
  for (const mark& m : marks_)
    if (m.touches(r) && !m.intact()) return m.refused ? *m.spoiled_by : m.cause;
  cut(r, UINT64_MAX);
  return {};
}

// Swaps, in order to free the vector's memory too.
void stale_ranges::clear() noexcept {
  std::vector<mark>().swap(marks_);
  reach_ = 0;
}

std::optional<error> stale_ranges::cause(range r, std::uint64_t ticket) const {
  if (r.begin == r.end) return {};
  const mark* first = nullptr;
  for (const mark& m : marks_) {
    if (m.place > place_of(ticket) && !m.lost) continue;
    if (m.touches(r) && (first == nullptr || m.place < first->place)) first = &m;
  }
  if (first == nullptr) return {};
  return first->cause;
}

}  // namespace troupe
