// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/memory/testing/device_memory_fixture.hpp>

namespace troupe::memory_tests {
namespace {

class stale_marks : public testing::Test {
 protected:
  ~stale_marks() override {
    block_.reset();
    memory_->abandon();
  }
  void fails(std::uint64_t ticket, std::uint64_t from = 0, std::uint64_t to = 256) {
    device_memory::marking marks(*memory_);
    marks.expect(*block_.get());
    marks.fails(*block_.get(), at(from), at(to), ticket,
                error(reaction::fatal, "test", "request " + std::to_string(ticket)));
  }
  void refuse(std::uint64_t from = 0, std::uint64_t to = 256) {
    memory_->mark_refused(*block_.get(), at(from), at(to), error(reaction::caller_bug, "test", "refused"));
  }
  void writes(std::uint64_t ticket, std::uint64_t from = 0, std::uint64_t to = 256) {
    memory_->mark_written(*block_.get(), at(from), at(to), ticket);
  }
  std::string cause(std::uint64_t from = 0, std::uint64_t to = 256) {
    const auto why = memory_->stale_cause(*block_.get(), at(from), at(to));
    return why ? why->text() : "";
  }
  std::uint64_t at(std::uint64_t offset) const { return block_->address + offset; }

  fake_source source_;
  device_memory* memory_ = device_memory::make(source_, {.device_bytes = 1 << 20, .host_bytes = 1 << 20});
  block_ref block_ = *memory_->allocate(memory_kind::device, 256, 256, {});
};

TEST_F(stale_marks, are_removed_from_bytes_that_a_later_request_writes) {
  fails(5);
  writes(6, 64, 128);
  EXPECT_EQ(cause(64, 128), "");
  EXPECT_EQ(cause(0, 64), "request 5");
  EXPECT_EQ(cause(128, 256), "request 5");
}

TEST_F(stale_marks, are_replaced_by_newer_marks_of_the_same_bytes) {
  for (std::uint64_t i = 0; i < 100; ++i) fails(i + 1, i, i + 50);
  EXPECT_EQ(cause(0, 1), "request 1");
  EXPECT_EQ(cause(60, 61), "request 61");
  fails(101);
  EXPECT_EQ(cause(), "request 101");
  EXPECT_EQ(block_->stale_marks.load(), 1u);
}

// A request may fail, and its report may be read, before the thread that submitted it notes the bytes that it replaces.
TEST_F(stale_marks, stay_if_the_failed_requests_own_write_is_noted_later) {
  fails(4);
  fails(5, 0, 128);
  writes(5, 0, 128);
  EXPECT_EQ(cause(0, 128), "request 5");
  EXPECT_EQ(cause(128, 256), "request 4");
}

TEST_F(stale_marks, are_removed_by_the_next_accepted_write_if_the_request_was_refused) {
  source_.last = 5;
  refuse();
  writes(5);  // accepted earlier, and still in flight
  EXPECT_EQ(cause().substr(0, 7), "refused");
  writes(6);
  EXPECT_EQ(cause(), "");
}

TEST_F(stale_marks, are_removed_if_they_come_from_refusals_and_the_content_is_kept) {
  refuse();
  refuse(64, 128);
  EXPECT_NE(cause().find("keep_content"), std::string::npos);
  EXPECT_TRUE(memory_->keep(*block_.get(), at(0), at(100)));
  EXPECT_EQ(cause(0, 100), "");
  EXPECT_NE(cause(100, 128), "");
  EXPECT_TRUE(memory_->keep(*block_.get(), at(0), at(256)));
  EXPECT_EQ(cause(), "");
  EXPECT_EQ(block_->stale_marks.load(), 0u);
}

TEST_F(stale_marks, of_a_refusal_after_a_failure_are_not_removed_by_keep) {
  source_.last = 5;
  fails(5, 0, 64);
  refuse();
  refuse();
  EXPECT_EQ(cause(0, 64), "refused") << "the content must not be kept";
  const auto kept = memory_->keep(*block_.get(), at(0), at(256));
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().text(), "request 5");
  EXPECT_EQ(cause(0, 64), "refused") << "nothing has changed";
}

TEST_F(stale_marks, of_a_failure_made_after_those_of_a_later_refusal_forbid_keep) {
  source_.last = 5;
  refuse();
  fails(4, 0, 64);
  EXPECT_FALSE(memory_->keep(*block_.get(), at(0), at(256)));
  EXPECT_TRUE(memory_->keep(*block_.get(), at(64), at(256)));
  EXPECT_EQ(cause(0, 64), "request 4");
}

TEST_F(stale_marks, exclude_bytes_that_an_accepted_request_replaces) {
  {
    device_memory::marking marks(*memory_);
    marks.expect(*block_.get());
    EXPECT_NE(block_->stale_marks.load(), 0u) << "a thread that writes it from now on checks for marks";
    marks.fails(*block_.get(), at(0), at(256), 5, error(reaction::fatal, "test", "request 5"));
    EXPECT_TRUE(marks.stale_cause(*block_.get(), at(0), at(64), 6));
    marks.replaces(*block_.get(), at(0), at(64), 7);
    EXPECT_FALSE(marks.stale_cause(*block_.get(), at(0), at(64), 8));
  }
  EXPECT_EQ(cause(0, 64), "");
  EXPECT_EQ(cause(64, 256), "request 5");
}

// Bytes that request 8 has overwritten are stale for earlier requests too, unless a request that runs again replaces
// them.
TEST_F(stale_marks, affect_older_requests_that_read_overwritten_bytes) {
  const error died(reaction::context_lost, "test", "the worker ended");
  {
    device_memory::marking marks(*memory_);
    marks.expect(*block_.get());
    marks.overwritten(*block_.get(), at(0), at(128), 9, died);
    marks.overwritten(*block_.get(), at(128), at(192), 9, died);
    EXPECT_TRUE(marks.stale_cause(*block_.get(), at(0), at(64), 5));
    EXPECT_TRUE(marks.stale_cause(*block_.get(), at(128), at(192), 5)) << "a block has several";
    EXPECT_FALSE(marks.stale_cause(*block_.get(), at(192), at(256), 5));
    marks.revives(*block_.get(), at(0), at(64), 4);
    EXPECT_FALSE(marks.stale_cause(*block_.get(), at(0), at(64), 5));
    EXPECT_TRUE(marks.stale_cause(*block_.get(), at(0), at(65), 5));
  }
  EXPECT_EQ(cause(64, 128), "the worker ended");
  writes(10, 64, 192);
  EXPECT_EQ(cause(), "");
}

TEST_F(device_blocks, share_few_segments_which_trim_releases_once_they_are_empty) {
  {
    std::vector<block_ref> all;
    for (int i = 0; i < 100; ++i) all.push_back(take(2 * mib));
    EXPECT_TRUE(all.back()) << why_;
    EXPECT_LE(source_.live.size(), 4u);
    EXPECT_EQ(memory_->trim(), 0u) << "all segments are in use, except the rest of the last";
    EXPECT_EQ(now().used_bytes, 200 * mib);
  }
  EXPECT_EQ(now().used_bytes, 0u);
  EXPECT_EQ(now().live_buffers, 0u);
  EXPECT_EQ(memory_->trim(), now().high_water_bytes / (64 * mib) * (64 * mib) + 64 * mib);
  EXPECT_TRUE(source_.live.empty());
  EXPECT_EQ(now().reserved_bytes, 0u);
}

TEST_F(device_blocks, abort_the_program_if_they_are_freed_twice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new program: a forked child frees no memory
  const block_ref b = take(256);
  EXPECT_DEATH(
      {
        memory_->recycle(*b.get());
        memory_->recycle(*b.get());
      },
      "freed before");
}

TEST_F(device_blocks, never_exceed_the_limit_though_segments_are_whole_pages) {
  std::vector<block_ref> all;
  for (int i = 0; i < 10; ++i) all.push_back(*memory_->allocate(memory_kind::host, 256, 256, {}));
  const auto more = memory_->allocate(memory_kind::host, 1, 256, {});
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().reaction(), reaction::retry_later);
  EXPECT_EQ(more.error().code(), ENOMEM);
  all.pop_back();
  EXPECT_TRUE(memory_->allocate(memory_kind::host, 1, 256, {}));
  memory_->count_failure(memory_kind::host);
  EXPECT_EQ(memory_->statistics(memory_kind::host).failed_allocations, 1u);
}

TEST_F(device_blocks, may_fill_the_limit_once_smaller_segments_are_idle) {
  {
    std::vector<block_ref> four;
    for (int i = 0; i < 4; ++i) four.push_back(take(64 * mib));
    EXPECT_EQ(source_.live.size(), 4u);
  }
  EXPECT_TRUE(take(256 * mib)) << why_;
  const block_ref one = take(1);
  EXPECT_TRUE(one) << why_;
  EXPECT_FALSE(take(256 * mib));
}

TEST_F(device_blocks, get_the_memory_of_idle_segments_if_the_system_has_no_more) {
  source_.room = 140 * mib;  // below the limit
  const block_ref used = take(30 * mib);
  take(70 * mib).reset();
  EXPECT_FALSE(source_.waited);
  ASSERT_TRUE(take(75 * mib)) << why_;
  EXPECT_TRUE(source_.waited);
  EXPECT_EQ(source_.live.size(), 2u);
  memory_->trim();
  take(70 * mib).reset();
  EXPECT_FALSE(take(130 * mib));
  EXPECT_NE(why_.find("out of memory"), std::string::npos) << why_;
}

TEST_F(device_blocks, wait_only_once_for_a_worker_that_does_not_answer) {
  take(70 * mib).reset();
  source_.silent = true;
  source_.asked = 0;
  EXPECT_FALSE(take(80 * mib));
  EXPECT_EQ(source_.asked, 1);
  EXPECT_EQ(source_.live.size(), 1u) << "idle memory would not help";
}

TEST_F(device_blocks, have_the_requested_alignment_however_large) {
  std::vector<block_ref> all;
  for (std::uint64_t a = 1; a <= 64 * mib; a *= 2) {
    all.push_back(take(1, a));
    ASSERT_TRUE(all.back()) << a << ": " << why_;
    EXPECT_EQ(all.back()->address % a, 0u);
  }
  all.clear();
  EXPECT_TRUE(take(256 * mib, segment_alignment)) << "an alignment that segments have anyway costs nothing: " << why_;
  EXPECT_FALSE(take(1, std::uint64_t{1} << 63));
}

TEST_F(device_blocks, of_0_bytes_have_addresses_of_their_own) {
  const block_ref one = take(0), other = take(0);
  ASSERT_TRUE(one && other) << why_;
  EXPECT_EQ(one->bytes, 0u);
  EXPECT_NE(one->address, 0u);
  EXPECT_NE(one->address, other->address);
}

TEST_F(device_blocks, are_refused_if_their_size_is_impossible) {
  EXPECT_FALSE(take(UINT64_MAX));
  EXPECT_FALSE(take(UINT64_MAX - 255));
  EXPECT_FALSE(take(std::uint64_t{1} << 62));
  EXPECT_NE(why_.find("caller_bug"), std::string::npos) << why_;
  EXPECT_NE(why_.find("at most 268435456, all of the device's memory (device_options::memory_limit)"),
            std::string::npos)
      << why_;
  const auto host = memory_->allocate(memory_kind::host, 10 * 256 + 1, 256, {});
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().reaction(), reaction::caller_bug);
  EXPECT_NE(host.error().text().find("host_memory_limit"), std::string::npos) << host.error().text();
  EXPECT_FALSE(take(1, 0));
  EXPECT_FALSE(take(1, 48));
  EXPECT_TRUE(source_.live.empty());
}

TEST_F(device_blocks, release_their_quota_when_freed_refused_or_failed) {
  const memory_quota quota(300 * mib);
  {
    const block_ref a = take(100 * mib, 256, quota), b = take(100 * mib, 256, quota);
    EXPECT_EQ(quota.used(), 200 * mib);
    EXPECT_FALSE(take(101 * mib, 256, quota)) << "over the quota";
    EXPECT_NE(why_.find("quota"), std::string::npos);
    EXPECT_FALSE(take(100 * mib, 256, quota)) << "within the quota, over the limit";
    EXPECT_NE(why_.find("memory_limit"), std::string::npos);
    source_.refuses = true;
    EXPECT_FALSE(take(57 * mib, 256, quota));
    EXPECT_EQ(quota.used(), 200 * mib);
  }
  EXPECT_EQ(quota.used(), 0u);
}

TEST_F(device_blocks, may_outlive_their_device) {
  counting_source source;
  device_memory* memory = device_memory::make(source, {.device_bytes = mib, .host_bytes = mib});
  block_ref kept = *memory->allocate(memory_kind::device, 100, 256, {});
  block_ref stillborn = memory->failed_buffer(5, error(reaction::caller_bug, "test", "never was"));
  memory->lose(salvage::strict, 9, error(reaction::stopped, "test", "closed"));
  memory->renew(*kept.get());
  memory->abandon();
  EXPECT_EQ(memory->stale_cause(*kept.get(), kept->address, kept->address + 1)->text(), "closed");
  EXPECT_EQ(memory->stale_cause(*stillborn.get(), 0, 5)->text(), "never was");
  EXPECT_FALSE(memory->allocate(memory_kind::device, mib, 256, {}));
  EXPECT_EQ(memory->trim(), 0u);
  memory->mark_refused(*kept.get(), kept->address, kept->address + 1, error(reaction::caller_bug, "test", "late"));
  kept.reset();
  stillborn.reset();  // the last reference: frees the memory
}

TEST_F(device_blocks, lose_their_content_with_the_worker_until_they_are_written_again) {
  const error first(reaction::context_lost, "test", "first"), second(reaction::context_lost, "test", "second");
  const block_ref b = take(256);
  const auto cause = [&](std::uint64_t begin, std::uint64_t end) {
    memory_->renew(*b.get());
    const auto why = memory_->stale_cause(*b.get(), b->address + begin, b->address + end);
    return why ? why->text() : "";
  };
  EXPECT_EQ(cause(0, 256), "");
  memory_->lose(salvage::untouched, 10, first);
  EXPECT_EQ(cause(0, 256), "") << "nothing is lost";
  memory_->lose(salvage::strict, 20, first);
  EXPECT_EQ(cause(0, 1), "first");
  memory_->lose(salvage::strict, 30, second);
  memory_->mark_written(*b.get(), b->address, b->address + 128, 31);
  EXPECT_EQ(cause(0, 128), "second") << "it was not renewed between the losses";
  memory_->mark_written(*b.get(), b->address, b->address + 128, 31);
  EXPECT_EQ(cause(0, 128), "");
  EXPECT_EQ(cause(127, 129), "second");
  revives(b, 128, 256, 1);
  EXPECT_EQ(cause(0, 256), "");
  EXPECT_EQ(take(256)->generation, memory_->generation());
}

// Request 6 should have replaced what request 5 writes in the next generation.
TEST_F(device_blocks, stay_stale_where_a_request_failed_after_one_that_runs_again) {
  const error lost(reaction::context_lost, "test", "lost"), failed(reaction::fatal, "test", "failed");
  const block_ref b = take(256);
  const std::uint64_t begin = b->address, end = begin + 256;
  const auto cause = [&](std::uint64_t ticket) {
    const auto why = memory_->stale_cause(*b.get(), begin, end, ticket);
    return why ? why->text() : "";
  };
  fails(b, 6, failed);
  memory_->lose(salvage::strict, 10, lost);
  memory_->renew(*b.get());
  EXPECT_NE(cause(4), "") << "it is lost";
  revives(b, 0, 256, 5);
  EXPECT_EQ(cause(5), "") << "a later failure does not affect it";
  EXPECT_EQ(cause(7), "failed");
  EXPECT_EQ(memory_->stale_cause(*b.get(), begin, end)->text(), "failed");
  revives(b, 0, 256, 6);
  EXPECT_EQ(cause(7), "") << "request 6 runs again itself";
}

TEST_F(device_blocks, are_stale_for_later_requests_after_a_refused_one) {
  const block_ref b = take(256);
  const std::uint64_t begin = b->address, end = begin + 256;
  source_.ticket = 8;
  memory_->mark_refused(*b.get(), begin, end, error(reaction::fatal, "test", "refused"));
  EXPECT_FALSE(memory_->stale_cause(*b.get(), begin, end, 8));
  EXPECT_TRUE(memory_->stale_cause(*b.get(), begin, end, 9));
  revives(b, 0, 256, 8);
  EXPECT_TRUE(memory_->stale_cause(*b.get(), begin, end)) << "it writes what the refused one would have replaced";
}

TEST_F(device_blocks, start_without_the_marks_of_an_earlier_block_at_the_same_address) {
  std::uint64_t address = 0;
  {
    const block_ref b = take(256);
    address = b->address;
    fails(b, 7, error(reaction::fatal, "test", "failed"));
  }
  const block_ref again = take(256);
  ASSERT_EQ(again->address, address);
  EXPECT_FALSE(memory_->stale_cause(*again.get(), address, address + 256));
  EXPECT_EQ(again->stale_marks.load(), 0u);
}

TEST_F(device_blocks, never_appear_valid_while_a_mark_replaces_another) {
  const auto b = *memory_->allocate(memory_kind::device, 256, 256, {});
  const error why(reaction::fatal, "test", "spoiled");
  memory_->mark_refused(*b.get(), 0, 256, why);
  std::atomic<bool> over{false};
  std::thread marks([&] {
    for (int i = 0; i < 100'000; ++i) memory_->mark_refused(*b.get(), 0, 256, why);
    over = true;
  });
  int clean = 0;
  while (!over) clean += b->stale_marks.load() == 0;
  marks.join();
  EXPECT_EQ(clean, 0);
}

TEST_F(device_blocks, are_allocated_and_freed_by_many_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      std::vector<block_ref> mine;
      for (std::uint64_t i = 0; i < 3000; ++i) {
        auto b = memory_->allocate(memory_kind::device, 1 + i * 37 % 5000, 256, {});
        ASSERT_TRUE(b);
        // Marks belong to a block: no other thread may see these.
        if (i % 7 == 0) fails(*b, i, error(reaction::fatal, "test", std::to_string(t)));
        mine.push_back(std::move(*b));
        if (mine.size() > 50) mine.erase(mine.begin());
        const auto why = memory_->stale_cause(*mine.front().get(), mine.front()->address, mine.front()->address + 1);
        ASSERT_TRUE(!why || why->text() == std::to_string(t)) << why->text();
        if (i % 500 == 0) memory_->trim();
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(now().live_buffers, 0u);
}

// Reads the limit in one thread while another sets it, for the thread sanitizer.
TEST_F(device_blocks, can_be_allocated_while_the_device_limit_is_set) {
  std::thread worker([&] {
    for (std::uint64_t i = 1; i <= 1000; ++i) memory_->set_device_limit((128 + i % 128) * mib);
  });
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(take(256)) << why_;
  worker.join();
}

}  // namespace
}  // namespace troupe::memory_tests
