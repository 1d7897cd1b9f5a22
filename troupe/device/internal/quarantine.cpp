// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <troupe/device/internal/quarantine.hpp>

namespace troupe {
namespace {

constexpr std::size_t most_remembered = 4096;  // requests that differ each time must not fill the memory

class hash {
 public:
  void add(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15;
    value_ ^= value_ >> 29;
  }
  // Fields of 8 bytes lie on multiples of 8, so an address is always a whole word here.
  void add(std::span<const std::byte> bytes, const quarantine::described& d) noexcept {
    add(bytes.size());
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
      const bool in_device = word >= d.device_begin && word < d.device_end;
      const bool in_blob = word >= d.blob_address && word - d.blob_address < d.blob.size();
      add(in_device ? 1 : in_blob ? word - d.blob_address + 2 : word);
    }
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0x243f6a8885a308d3;
};

}  // namespace

std::uint64_t quarantine::signature_of(const described& d) noexcept {
  hash h;
  h.add(d.opcode);
  h.add(d.payload, d);
  h.add(d.blob, d);
  return h.value();
}

bool quarantine::holds(std::uint64_t signature) const {
  const std::scoped_lock guard(lock_);
  const auto at = deaths_.find(signature);
  return at != deaths_.end() && at->second >= most_deaths;
}

bool quarantine::blame(std::uint64_t signature) {
  const std::scoped_lock guard(lock_);
  if (deaths_.size() >= most_remembered) std::erase_if(deaths_, [](const auto& d) { return d.second < most_deaths; });
  if (++deaths_[signature] != most_deaths) return false;
  size_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void quarantine::lift() {
  const std::scoped_lock guard(lock_);
  deaths_.clear();
  size_.store(0, std::memory_order_relaxed);
}

}  // namespace troupe
