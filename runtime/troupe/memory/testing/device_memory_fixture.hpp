// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include <thread>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/memory/blocks/device_memory.hpp>
#include <vector>

namespace troupe::memory_tests {

struct fake_source final : segment_source {
  result<segment> grow(memory_kind, std::uint64_t bytes, file_descriptor) override {
    return segment{std::uint64_t{1} << 40, bytes, nullptr, nullptr};
  }
  void shrink(memory_kind, const segment&) noexcept override {}
  void protect(std::uint64_t, std::uint64_t, bool, std::uint32_t) noexcept override {}
  std::uint64_t last_ticket() const noexcept override { return last; }
  std::uint64_t last = 0;
};

template <class T>
void expect_refused(const result<T>& r, std::string_view why) {
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().reaction(), reaction::caller_bug);
  EXPECT_EQ(r.error().text(), why);
}

// Makes segments, and records those that exist.
struct counting_source final : segment_source {
  result<file_descriptor> prepare(memory_kind, std::uint64_t bytes, bool after_release) override {
    ++asked;
    waited |= after_release;
    std::uint64_t there = 0;
    for (const auto& [address, size] : live) there += size;
    if (silent)
      return error({.reaction = reaction::retry_later, .domain = "test", .code = ETIMEDOUT, .text = "silent"});
    if (bytes > room - std::min(room, there)) return error(reaction::retry_later, "test", "out of memory");
    return file_descriptor();
  }
  result<segment> grow(memory_kind kind, std::uint64_t bytes, file_descriptor) override {
    if (refuses) return error(reaction::stopped, "test", "no more segments");
    bytes = round_up(bytes, segment_alignment);
    const std::uint64_t address = next;
    next += bytes;
    live.emplace_back(address, bytes);
    return segment{address, bytes, kind != memory_kind::device ? reinterpret_cast<std::byte*>(address) : nullptr,
                   nullptr};
  }
  result<segment> attach(memory_kind kind, std::uint64_t bytes, file_descriptor, bool read_only) override {
    attached.emplace_back(kind, read_only);
    return grow(kind, bytes, {});
  }
  std::vector<std::pair<memory_kind, bool>> attached;
  void shrink(memory_kind kind, const segment& s) noexcept override {
    if (!attached.empty()) {
      EXPECT_EQ(kind, attached.back().first);
    }
    EXPECT_EQ(std::erase(live, std::pair(s.address, s.bytes)), 1u)
        << "a foreign segment, or one that was released before";
  }
  void protect(std::uint64_t address, std::uint64_t bytes, bool read_only, std::uint32_t by) noexcept override {
    done_by = by;
    if (std::exchange(again, false))
      EXPECT_EQ(sealed.count(address), read_only ? 1u : 0u);
    else if (read_only)
      EXPECT_TRUE(sealed.emplace(address, bytes).second) << "sealed twice";
    else
      EXPECT_EQ(sealed.extract(address).mapped(), bytes) << "other bytes than were sealed";
  }
  std::uint64_t last_ticket() const noexcept override { return ticket; }
  std::map<std::uint64_t, std::uint64_t> sealed;
  std::uint32_t done_by = 0;
  bool again = false;  // the next call of `protect` repeats the present state
  std::uint64_t ticket = 0;
  std::uint64_t next = std::uint64_t{1} << 40;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
  bool refuses = false;
  bool silent = false;              // true if the worker does not answer
  std::uint64_t room = UINT64_MAX;  // bytes of all segments together
  int asked = 0;
  bool waited = false;  // true if `prepare` waited for released memory
};

inline constexpr std::uint64_t mib = 1 << 20;

class device_blocks : public testing::Test {
 protected:
  ~device_blocks() override { memory_->abandon(); }
  block_ref take(std::uint64_t bytes, std::uint64_t alignment = 256, const memory_quota& quota = {}) {
    auto got = memory_->allocate(memory_kind::device, bytes, alignment, quota);
    why_ = got ? "" : got.error().to_string();
    return got ? *got : block_ref();
  }
  memory_statistics now() const { return memory_->statistics(memory_kind::device); }
  void fails(const block_ref& b, std::uint64_t ticket, const error& why) {
    device_memory::marking marks(*memory_);
    marks.expect(*b.get());
    marks.fails(*b.get(), b->address, b->address + b->bytes, ticket, why);
  }
  void revives(const block_ref& b, std::uint64_t from, std::uint64_t to, std::uint64_t ticket) {
    device_memory::marking marks(*memory_);
    marks.expect(*b.get());
    marks.revives(*b.get(), b->address + from, b->address + to, ticket);
  }

  counting_source source_;
  device_memory* memory_ = device_memory::make(source_, {.device_bytes = 256 * mib, .host_bytes = 10 * 256});
  std::string why_;
};

}  // namespace troupe::memory_tests
