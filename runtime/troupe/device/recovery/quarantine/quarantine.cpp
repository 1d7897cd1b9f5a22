// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/base/linux/futex.hpp>
#include <troupe/device/recovery/quarantine/quarantine.hpp>

namespace troupe {

// Fields of 8 bytes are aligned to 8, so an address is always one whole word here.
void quarantine::add_description(const described& d, content_hash& to) const noexcept {
  const auto add = [&](std::span<const std::byte> bytes) {
    to.add(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
      const bool in_blob = word >= d.blob_address && word - d.blob_address < d.blob.size();
      const bool in_memory = word >= d.memory_begin && word < d.memory_end;
      to.add(in_blob ? word - d.blob_address + 2 : in_memory ? 1 : word);
    }
  };
  to.add(d.opcode);
  add(d.payload);
  add(d.blob);
}

std::uint64_t quarantine::unknown_data() noexcept {
  content_hash h(key_);
  h.add(++unknown_);
  return h.value();
}

std::optional<quarantine::refusal> quarantine::blame(const request_identity& id, std::string name, std::string cause,
                                                     std::int64_t now_ns) {
  if (deaths_.size() == most_deaths) deaths_.pop_front();
  deaths_.push_back({now_ns, id, std::move(name), std::move(cause)});
  return refusal_of(id, now_ns);
}

std::uint32_t quarantine::deaths_of_kind(std::uint64_t kind, std::int64_t now_ns) const noexcept {
  return static_cast<std::uint32_t>(std::count_if(
      deaths_.begin(), deaths_.end(), [&](const death& d) { return d.of.kind == kind && counts(d, now_ns); }));
}

std::optional<quarantine::refusal> quarantine::refusal_of(const request_identity& id, std::int64_t now_ns) const {
  if (limits_.after == 0) return {};
  const death* last = nullptr;
  refusal s{};
  std::int64_t ends_ns = no_deadline;  // when the kind has fewer than limits_.after deaths in the window
  for (auto d = deaths_.rbegin(); d != deaths_.rend() && counts(*d, now_ns); ++d) {
    if (d->of.kind != id.kind) continue;
    if (++s.deaths == limits_.after) ends_ns = limits_.window.after(d->at_ns);
    if (d->of != id) continue;
    ++s.own;
    if (last == nullptr) last = &*d;
  }
  if (last == nullptr || s.deaths < limits_.after) return {};
  s.last_ns = last->at_ns;
  s.cause = last->cause;
  s.ends_ns = std::min(ends_ns, limits_.window.after(last->at_ns));
  return s;
}

// Returns the kinds of which some requests are refused, and their names.
std::vector<std::pair<std::uint64_t, std::string>> quarantine::kinds(std::int64_t now_ns) const {
  std::vector<std::pair<std::uint64_t, std::string>> all;
  if (limits_.after == 0) return all;
  for (const death& d : deaths_) {
    const auto same = [&](const auto& k) { return k.first == d.of.kind; };
    if (std::none_of(all.begin(), all.end(), same) && deaths_of_kind(d.of.kind, now_ns) >= limits_.after)
      all.emplace_back(d.of.kind, d.name);
  }
  return all;
}

std::size_t quarantine::size(std::int64_t now_ns) const { return kinds(now_ns).size(); }

std::vector<std::string> quarantine::expire(std::int64_t now_ns) {
  std::vector<std::pair<std::uint64_t, std::string>> left;
  for (; !deaths_.empty() && !counts(deaths_.front(), now_ns); deaths_.pop_front()) {
    const death& d = deaths_.front();
    const std::int64_t then_ns = limits_.window.after(d.at_ns);
    const auto with_it = std::count_if(deaths_.begin(), deaths_.end(), [&](const death& other) {
      return other.of.kind == d.of.kind && other.at_ns < then_ns;
    });
    if (limits_.after != 0 && with_it == limits_.after) left.emplace_back(d.of.kind, d.name);
  }
  std::vector<std::string> ended;
  for (auto& [kind, name] : left)
    if (deaths_of_kind(kind, now_ns) < limits_.after) ended.push_back(std::move(name));
  if (deaths_.empty()) stop_watching();
  return ended;
}

std::vector<std::string> quarantine::lift(std::int64_t now_ns) {
  std::vector<std::string> ended;
  for (auto& [kind, name] : kinds(now_ns)) ended.push_back(std::move(name));
  deaths_.clear();
  stop_watching();
  return ended;
}

void quarantine::stop_watching() noexcept {
  contents_.forget();
  watches_.store(false, std::memory_order_seq_cst);
}

std::int64_t quarantine::next_ns() const noexcept {
  return deaths_.empty() ? no_deadline : limits_.window.after(deaths_.front().at_ns);
}

}  // namespace troupe
