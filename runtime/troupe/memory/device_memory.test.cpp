// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include <thread>
#include <troupe/memory/device_memory.hpp>
#include <vector>

namespace troupe {
namespace {

struct fake_source final : segment_source {
  result<segment> grow(memory_kind, std::uint64_t bytes, file_descriptor) override {
    return segment{std::uint64_t{1} << 40, bytes, nullptr, nullptr};
  }
  void shrink(memory_kind, const segment&) noexcept override {}
  void protect(std::uint64_t, std::uint64_t, bool, std::uint32_t) noexcept override {}
  std::uint64_t last_ticket() const noexcept override { return last; }
  std::uint64_t last = 0;
};

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

TEST_F(stale_marks, go_where_a_later_request_writes) {
  fails(5);
  writes(6, 64, 128);
  EXPECT_EQ(cause(64, 128), "");
  EXPECT_EQ(cause(0, 64), "request 5");
  EXPECT_EQ(cause(128, 256), "request 5");
}

TEST_F(stale_marks, say_nothing_that_a_newer_one_says) {
  for (std::uint64_t i = 0; i < 100; ++i) fails(i + 1, i, i + 50);
  EXPECT_EQ(cause(0, 1), "request 1");
  EXPECT_EQ(cause(60, 61), "request 61");
  fails(101);
  EXPECT_EQ(cause(), "request 101");
  EXPECT_EQ(block_->stale_marks.load(), 1u);
}

// The worker may have failed a request, and its report may have been read, before the thread that submitted it gets to
// note what it replaces.
TEST_F(stale_marks, of_a_request_that_has_failed_already_outlive_the_note_that_it_writes) {
  fails(4);
  fails(5, 0, 128);
  writes(5, 0, 128);
  EXPECT_EQ(cause(0, 128), "request 5");
  EXPECT_EQ(cause(128, 256), "request 4");
}

TEST_F(stale_marks, of_a_refused_request_go_with_the_next_one_that_is_accepted) {
  source_.last = 5;
  refuse();
  writes(5);  // accepted before, and still on its way
  EXPECT_EQ(cause().substr(0, 7), "refused");
  writes(6);
  EXPECT_EQ(cause(), "");
}

TEST_F(stale_marks, of_refusals_alone_go_when_the_content_is_kept) {
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

TEST_F(stale_marks, of_refusals_hide_no_failure_from_whoever_wants_to_keep_the_content) {
  source_.last = 5;
  fails(5, 0, 64);
  refuse();
  refuse();
  EXPECT_EQ(cause(0, 64), "refused") << "and no word of keeping it";
  const auto kept = memory_->keep(*block_.get(), at(0), at(256));
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().text(), "request 5");
  EXPECT_EQ(cause(0, 64), "refused") << "nothing has changed";
}

TEST_F(stale_marks, of_failures_before_a_refusal_that_come_later_stay) {
  source_.last = 5;
  refuse();
  fails(4, 0, 64);
  EXPECT_FALSE(memory_->keep(*block_.get(), at(0), at(256)));
  EXPECT_TRUE(memory_->keep(*block_.get(), at(64), at(256)));
  EXPECT_EQ(cause(0, 64), "request 4");
}

TEST_F(stale_marks, give_way_to_what_is_accepted_already_when_they_are_made) {
  {
    device_memory::marking marks(*memory_);
    marks.expect(*block_.get());
    EXPECT_NE(block_->stale_marks.load(), 0u) << "whoever writes it from here on looks for marks";
    marks.fails(*block_.get(), at(0), at(256), 5, error(reaction::fatal, "test", "request 5"));
    EXPECT_TRUE(marks.stale_cause(*block_.get(), at(0), at(64), 6));
    marks.replaces(*block_.get(), at(0), at(64), 7);
    EXPECT_FALSE(marks.stale_cause(*block_.get(), at(0), at(64), 8));
  }
  EXPECT_EQ(cause(0, 64), "");
  EXPECT_EQ(cause(64, 256), "request 5");
}

template <class T>
void expect_refused(const result<T>& r, std::string_view why) {
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().reaction(), reaction::caller_bug);
  EXPECT_EQ(r.error().text(), why);
}

// Makes segments and remembers which are there.
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
    bytes = (bytes + segment_alignment - 1) / segment_alignment * segment_alignment;
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
    EXPECT_EQ(std::erase(live, std::pair(s.address, s.bytes)), 1u) << "not ours, or given back before";
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
  bool again = false;  // what comes next is said again
  std::uint64_t ticket = 0;
  std::uint64_t next = std::uint64_t{1} << 40;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> live;
  bool refuses = false;
  bool silent = false;              // nobody answers
  std::uint64_t room = UINT64_MAX;  // for all segments
  int asked = 0;
  bool waited = false;  // for what was given back
};

constexpr std::uint64_t mib = 1 << 20;

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

TEST_F(device_blocks, come_from_few_segments_and_go_back_with_them) {
  {
    std::vector<block_ref> all;
    for (int i = 0; i < 100; ++i) all.push_back(take(2 * mib));
    EXPECT_TRUE(all.back()) << why_;
    EXPECT_LE(source_.live.size(), 4u);
    EXPECT_EQ(memory_->trim(), 0u) << "all segments are in use, but for what is left of the last";
    EXPECT_EQ(now().used_bytes, 200 * mib);
  }
  EXPECT_EQ(now().used_bytes, 0u);
  EXPECT_EQ(now().live_buffers, 0u);
  EXPECT_EQ(memory_->trim(), now().high_water_bytes / (64 * mib) * (64 * mib) + 64 * mib);
  EXPECT_TRUE(source_.live.empty());
  EXPECT_EQ(now().reserved_bytes, 0u);
}

TEST_F(device_blocks, that_come_back_twice_end_the_program) {
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
  all.pop_back();
  EXPECT_TRUE(memory_->allocate(memory_kind::host, 1, 256, {}));
  memory_->count_failure(memory_kind::host);
  EXPECT_EQ(memory_->statistics(memory_kind::host).failed_allocations, 1u);
}

TEST_F(device_blocks, get_the_room_of_segments_that_nobody_uses) {
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

TEST_F(device_blocks, get_the_memory_of_idle_segments_when_the_system_has_no_more) {
  source_.room = 140 * mib;  // less than the limit
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

TEST_F(device_blocks, wait_but_once_for_whoever_does_not_answer) {
  take(70 * mib).reset();
  source_.silent = true;
  source_.asked = 0;
  EXPECT_FALSE(take(80 * mib));
  EXPECT_EQ(source_.asked, 1);
  EXPECT_EQ(source_.live.size(), 1u) << "what is idle would not help";
}

TEST_F(device_blocks, are_aligned_as_asked_however_large_that_is) {
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

TEST_F(device_blocks, of_impossible_sizes_are_refused) {
  EXPECT_FALSE(take(0));
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

TEST_F(device_blocks, give_their_quota_back_in_every_case) {
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

TEST_F(device_blocks, outlive_their_device) {
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
  stillborn.reset();  // the last: the memory goes now
}

TEST_F(device_blocks, lose_their_content_with_the_worker_until_it_is_written_again) {
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
  EXPECT_EQ(cause(0, 128), "second") << "it was not looked at in between";
  memory_->mark_written(*b.get(), b->address, b->address + 128, 31);
  EXPECT_EQ(cause(0, 128), "");
  EXPECT_EQ(cause(127, 129), "second");
  revives(b, 128, 256, 1);
  EXPECT_EQ(cause(0, 256), "");
  EXPECT_EQ(take(256)->generation, memory_->generation());
}

// What request 5 writes in the next generation, request 6 should have replaced.
TEST_F(device_blocks, stay_stale_where_what_failed_comes_after_what_is_run_again) {
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
  EXPECT_EQ(cause(5), "") << "what failed later does not concern it";
  EXPECT_EQ(cause(7), "failed");
  EXPECT_EQ(memory_->stale_cause(*b.get(), begin, end)->text(), "failed");
  revives(b, 0, 256, 6);
  EXPECT_EQ(cause(7), "") << "request 6 runs again itself";
}

TEST_F(device_blocks, are_stale_behind_a_request_when_the_next_one_was_refused) {
  const block_ref b = take(256);
  const std::uint64_t begin = b->address, end = begin + 256;
  source_.ticket = 8;
  memory_->mark_refused(*b.get(), begin, end, error(reaction::fatal, "test", "refused"));
  EXPECT_FALSE(memory_->stale_cause(*b.get(), begin, end, 8));
  EXPECT_TRUE(memory_->stale_cause(*b.get(), begin, end, 9));
  revives(b, 0, 256, 8);
  EXPECT_TRUE(memory_->stale_cause(*b.get(), begin, end)) << "it writes what the refused one would have replaced";
}

TEST_F(device_blocks, start_without_the_marks_of_whoever_had_the_place_before) {
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

TEST_F(device_blocks, are_never_seen_clean_while_a_mark_replaces_another) {
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

TEST_F(device_blocks, are_taken_and_given_back_by_many_threads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      std::vector<block_ref> mine;
      for (std::uint64_t i = 0; i < 3000; ++i) {
        auto b = memory_->allocate(memory_kind::device, 1 + i * 37 % 5000, 256, {});
        ASSERT_TRUE(b);
        // stale marks are per block: nobody else may see ours.
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

// The limit is seen by one thread while another one sets it: for the thread sanitizer.
TEST_F(device_blocks, are_allocated_while_it_turns_out_how_much_the_device_has) {
  std::thread worker([&] {
    for (std::uint64_t i = 1; i <= 1000; ++i) memory_->set_device_limit((128 + i % 128) * mib);
  });
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(take(256)) << why_;
  worker.join();
}

class sealing_memory : public device_blocks {
 protected:
  block_ref sealable(std::uint64_t bytes) { return *memory_->allocate(memory_kind::device, bytes, 256, {}, true); }
  static memory_range all_of(const block_ref& b) { return {b, b->address, b->bytes}; }
  void seal(const block_ref& b) {
    const auto begun = memory_->seals().begin(all_of(b));
    ASSERT_TRUE(begun);
    memory_->seals().end(*b.get(), begun->number, true);
  }
  void lose(salvage how) { memory_->lose(how, 100, error(reaction::context_lost, "test", "lost")); }
  bool valid(const block_ref& b) {
    memory_->renew(*b.get());
    return !memory_->stale_cause(*b.get(), b->address, b->address + b->bytes);
  }
};

TEST_F(sealing_memory, a_block_that_can_be_sealed_has_whole_granules_to_itself) {
  const block_ref before = take(100), b = sealable(5000), after = take(100);
  EXPECT_EQ(b->bytes, 5000u);
  EXPECT_EQ(b->address % 4096, 0u);
  EXPECT_TRUE(after->address >= b->address + 8192 || after->address + 256 <= b->address);
  EXPECT_EQ(now().used_bytes, 256u + 8192u + 256u);
  seal(b);
  EXPECT_EQ(source_.sealed, (std::map<std::uint64_t, std::uint64_t>{{b->address, 8192}}));
  EXPECT_EQ(now().sealed_bytes, 5000u);
}

TEST_F(sealing_memory, only_what_is_sealed_at_that_moment_outlives_a_loss) {
  const block_ref open = sealable(100), sealed = sealable(100), coming = sealable(100), going = sealable(100),
                  ended = sealable(100);
  for (const block_ref& b : {sealed, going, ended}) seal(b);
  ASSERT_TRUE(memory_->seals().begin(all_of(coming)));
  ASSERT_TRUE(memory_->seals().begin_unseal(all_of(going)));
  lose(salvage::strict);
  ASSERT_TRUE(memory_->seals().begin_unseal(all_of(ended)));
  memory_->seals().end_unseal(*ended.get(), 101);
  EXPECT_FALSE(valid(open));
  EXPECT_TRUE(valid(sealed));
  EXPECT_FALSE(valid(coming));
  EXPECT_FALSE(valid(going));
  EXPECT_TRUE(valid(ended)) << "it ended after the loss, and nobody had looked in between";
  lose(salvage::strict);
  EXPECT_FALSE(valid(ended));
  EXPECT_TRUE(valid(sealed));
}

TEST_F(sealing_memory, the_answer_to_a_seal_that_has_ended_already_changes_nothing) {
  const block_ref b = sealable(100);
  const auto first = memory_->seals().begin(all_of(b));
  ASSERT_TRUE(first);
  EXPECT_FALSE(memory_->seals().begin(all_of(b))) << "one at a time";
  ASSERT_TRUE(memory_->seals().begin_unseal(all_of(b)));
  memory_->seals().end_unseal(*b.get(), 7);
  const auto second = memory_->seals().begin(all_of(b));
  ASSERT_TRUE(second);
  memory_->seals().end(*b.get(), first->number, true);
  EXPECT_EQ(b->seal.load(), seal_state::sealing);
  EXPECT_TRUE(source_.sealed.empty());
  memory_->seals().end(*b.get(), second->number, false);
  EXPECT_EQ(b->seal.load(), seal_state::open);
  EXPECT_TRUE(source_.sealed.empty());
}

TEST_F(sealing_memory, an_unseal_that_was_refused_leaves_things_as_they_are_or_as_they_come_to_be) {
  for (const bool answered_before : {true, false}) {
    const block_ref b = sealable(100);
    const auto begun = memory_->seals().begin(all_of(b));
    if (answered_before) memory_->seals().end(*b.get(), begun->number, true);
    ASSERT_TRUE(memory_->seals().begin_unseal(all_of(b)));
    EXPECT_FALSE(memory_->seals().begin_unseal(all_of(b)));
    if (!answered_before) memory_->seals().end(*b.get(), begun->number, true);
    memory_->seals().end_unseal(*b.get(), 0);
    EXPECT_EQ(b->seal.load(), seal_state::sealed);
    EXPECT_EQ(source_.sealed.count(b->address), 1u);
  }
}

TEST_F(sealing_memory, a_worker_that_does_it_by_itself_is_not_told_unless_it_was_lost) {
  const block_ref b = sealable(100);
  memory_->seals().end(*b.get(), memory_->seals().begin(all_of(b))->number, true, 3);
  EXPECT_EQ(source_.done_by, 3u);
  ASSERT_TRUE(memory_->seals().begin_unseal(all_of(b)));
  memory_->seals().end_unseal(*b.get(), 7, 4);
  EXPECT_EQ(source_.done_by, 4u);
  source_.again = true;
  memory_->seals().unseal_was_lost(*b.get());
  EXPECT_FALSE(source_.again) << "the next worker was not told";
  EXPECT_EQ(source_.done_by, 0u);
}

TEST_F(sealing_memory, the_last_handle_ends_the_seal) {
  block_ref b = sealable(100);
  seal(b);
  b.reset();
  EXPECT_TRUE(source_.sealed.empty());
  EXPECT_EQ(now().sealed_bytes, 0u);
  const block_ref next = sealable(100);
  EXPECT_EQ(next->seal.load(), seal_state::open);
}

TEST_F(sealing_memory, a_block_that_can_be_sealed_lies_where_nobody_gets_a_descriptor_of) {
  const block_ref b = sealable(100), plain = take(100);
  expect_refused(
      memory_->seals().begin_export(*b.get()),
      "export: the buffer shares its descriptor with others that may be sealed, and whoever has it can write "
      "them; copy it to a buffer without alloc_options::sealable, and export that one");
  ASSERT_TRUE(memory_->seals().begin_export(*plain.get()));
  ASSERT_EQ(source_.live.size(), 2u);
  const auto in = [&](std::size_t i, const block_ref& x) { return x->address - source_.live[i].first < 64 * mib; };
  EXPECT_TRUE(in(0, b) && in(1, plain));
  EXPECT_TRUE(in(0, sealable(100))) << "many have one segment";
}

TEST_F(sealing_memory, a_block_that_this_program_can_write_is_not_sealed_until_it_has_let_go) {
  const block_ref b = sealable(100);
  ASSERT_TRUE(memory_->seals().begin_address(*b.get()));
  ASSERT_TRUE(memory_->seals().begin_address(*b.get()));
  memory_->seals().end_address(*b.get());
  expect_refused(memory_->seals().begin(all_of(b)),
                 "seal: this program has an address of the buffer and can write there; let go of it first (what keeps "
                 "address(), the tensors of to_dlpack), or copy the buffer to another, and seal that one");
  memory_->seals().end_address(*b.get());
  seal(b);
  EXPECT_FALSE(memory_->seals().begin_address(*b.get())) << "for reading only";
  ASSERT_TRUE(memory_->seals().begin_unseal(all_of(b)));
  EXPECT_FALSE(memory_->seals().begin_address(*b.get())) << "the end of the seal may still be refused";
}

TEST_F(sealing_memory, blocks_that_can_be_sealed_and_others_share_the_limit) {
  {
    const block_ref plain = take(200 * mib);
    EXPECT_FALSE(memory_->allocate(memory_kind::device, 57 * mib, 256, {}, true));
    EXPECT_TRUE(memory_->allocate(memory_kind::device, 56 * mib, 256, {}, true));
  }
  EXPECT_TRUE(memory_->allocate(memory_kind::device, 256 * mib, 256, {}, true)) << "what was idle of the others went";
  EXPECT_TRUE(take(256 * mib)) << why_;
}

TEST_F(sealing_memory, a_request_that_is_refused_takes_nothing_of_it_away) {
  const block_ref b = sealable(100);
  seal(b);
  memory_->mark_refused(*b.get(), b->address, b->address + 100, error(reaction::caller_bug, "test", "refused"));
  EXPECT_TRUE(valid(b));
}

TEST_F(sealing_memory, what_was_sent_outlives_a_loss_unless_it_stands_for_what_a_worker_holds) {
  const block_ref sent = *memory_->allocate(memory_kind::sent, 100, 256, {}),
                  held = *memory_->allocate(memory_kind::sent, 100, 256, {}),
                  host = *memory_->allocate(memory_kind::host, 100, 256, {}),
                  told = *memory_->allocate(memory_kind::host, 100, 256, {});
  held->at_fault.store(fate::lost);
  told->at_fault.store(fate::kept);
  lose(salvage::untouched);
  EXPECT_TRUE(valid(sent));
  EXPECT_FALSE(valid(held));
  EXPECT_TRUE(valid(host));
  lose(salvage::strict);
  EXPECT_TRUE(valid(sent));
  EXPECT_FALSE(valid(host));
  EXPECT_TRUE(valid(told));
}

TEST_F(sealing_memory, sent_and_host_memory_share_a_limit) {
  const block_ref half = *memory_->allocate(memory_kind::sent, 5 * 256, 256, {}),
                  other = *memory_->allocate(memory_kind::host, 5 * 256, 256, {});
  EXPECT_FALSE(memory_->allocate(memory_kind::sent, 1, 256, {}));
  EXPECT_FALSE(memory_->allocate(memory_kind::host, 1, 256, {}));
  const memory_statistics s = memory_->statistics(memory_kind::host);
  EXPECT_EQ(s.used_bytes, 10u * 256);
  EXPECT_EQ(s.high_water_bytes, 10u * 256);
  EXPECT_EQ(s.free_bytes, 0u);
  EXPECT_EQ(s.live_buffers, 2u);
}

// As on a GPU.
class sealing_whole_segments : public sealing_memory {
 protected:
  sealing_whole_segments() {
    memory_->abandon();
    memory_ = device_memory::make(
        source_,
        {.device_bytes = 256 * mib, .host_bytes = 10 * 256, .seal_granule = segment_alignment, .seals_segments = true});
  }
};

TEST_F(sealing_whole_segments, a_block_that_can_be_sealed_has_one_to_itself_while_it_lives) {
  for (const std::uint64_t alignment : {std::uint64_t{256}, segment_alignment}) {
    block_ref b = *memory_->allocate(memory_kind::device, 100, alignment, {}, true), other = sealable(100);
    ASSERT_EQ(source_.live.size(), 2u);
    EXPECT_EQ(source_.live[0], std::pair(b->address, segment_alignment));
    seal(b);
    EXPECT_EQ(source_.sealed, (std::map<std::uint64_t, std::uint64_t>{{b->address, segment_alignment}}));
    b.reset();
    EXPECT_EQ(source_.live.size(), 1u);
  }
}

TEST_F(sealing_whole_segments, an_alignment_beyond_that_of_segments_is_refused) {
  expect_refused(
      memory_->allocate(memory_kind::device, 100, 2 * segment_alignment, {}, true),
      "alloc: alignment is 4194304; expected at most 2097152 with alloc_options::sealable on this device: ask for "
      "less, or for a buffer that is not sealed");
  EXPECT_TRUE(take(100, 2 * segment_alignment)) << why_;
}

TEST_F(sealing_whole_segments, either_others_have_a_descriptor_of_a_block_or_it_is_sealed) {
  block_ref b = sealable(100);
  seal(b);
  EXPECT_FALSE(memory_->seals().begin_export(*b.get()));
  ASSERT_TRUE(memory_->seals().begin_unseal(all_of(b)));
  EXPECT_FALSE(memory_->seals().begin_export(*b.get())) << "the end of the seal may still be refused";
  memory_->seals().end_unseal(*b.get(), 7);
  ASSERT_TRUE(memory_->seals().begin_export(*b.get()));
  ASSERT_TRUE(memory_->seals().begin_export(*b.get())) << "again";
  expect_refused(
      memory_->seals().begin(all_of(b)),
      "seal: a descriptor of the buffer was given out (export_memory), and whoever has it can write; copy it to "
      "another buffer, and seal that one");
  EXPECT_EQ(b->seal.load(), seal_state::open);
  lose(salvage::strict);
  EXPECT_FALSE(memory_->seals().begin(all_of(b))) << "others have it still";
  b.reset();
  EXPECT_TRUE(source_.live.empty()) << "what others can still write is nobody's any more";
  const block_ref next = sealable(100);
  EXPECT_TRUE(memory_->seals().begin(all_of(next))) << "nobody had a descriptor of this one";
}

TEST_F(sealing_whole_segments, when_a_seal_and_an_export_meet_one_is_refused) {
  for (int i = 0; i < 2000; ++i) {
    const block_ref b = sealable(100);
    bool sealed = false, exported = false;
    std::thread other([&] { exported = static_cast<bool>(memory_->seals().begin_export(*b.get())); });
    sealed = static_cast<bool>(memory_->seals().begin(all_of(b)));
    other.join();
    ASSERT_NE(sealed, exported) << i;
  }
}

// Where somebody else's memory is opened and closed.
struct opening_source final : segment_source {
  result<segment> grow(memory_kind, std::uint64_t bytes, file_descriptor memory) override {
    if (!memory) return error(reaction::fatal, "test", "it came without its memory");
    ++open;
    return segment{std::uint64_t{1} << 40, bytes, nullptr, nullptr};
  }
  void shrink(memory_kind, const segment&) noexcept override { --open; }
  void protect(std::uint64_t, std::uint64_t, bool, std::uint32_t) noexcept override {}
  std::uint64_t last_ticket() const noexcept override { return 0; }
  int open = 0;
};

class foreign_memory : public testing::Test {
 protected:
  memory_range imported(std::uint64_t offset, std::uint64_t bytes) {
    return memory_->import(1 << 20, file_descriptor(::dup(0)), offset, bytes).value();
  }
  memory_statistics now() const { return memory_->statistics(memory_kind::device); }

  opening_source source_;
  device_memory* memory_ = device_memory::make(source_, {.device_bytes = 1 << 20, .host_bytes = 1 << 20});
};

TEST_F(foreign_memory, is_open_as_long_as_somebody_has_it_and_counts_against_no_limit) {
  memory_range one = imported(100, 1 << 19), two = imported(0, 1 << 20);
  EXPECT_EQ(one.address, (std::uint64_t{1} << 40) + 100);
  EXPECT_EQ(source_.open, 2);
  EXPECT_EQ(now().imported_bytes, (1u << 19) + (1u << 20));
  EXPECT_EQ(now().used_bytes, 0u);
  memory_range copy = one;
  one = {};
  EXPECT_EQ(source_.open, 2);
  copy = two = {};
  EXPECT_EQ(source_.open, 0);
  EXPECT_EQ(now().imported_bytes, 0u);
  memory_->abandon();
}

TEST_F(foreign_memory, goes_stale_with_a_worker_and_can_be_written_anew) {
  memory_range r = imported(0, 1000);
  memory_->lose(salvage::strict, 5, error(reaction::context_lost, "test", "the worker died"));
  memory_->renew(*r.owner.get());
  EXPECT_EQ(memory_->stale_cause(*r.owner.get(), r.address, r.address + 1000)->text(), "the worker died");
  memory_->mark_written(*r.owner.get(), r.address, r.address + 1000, 6);
  EXPECT_FALSE(memory_->stale_cause(*r.owner.get(), r.address, r.address + 1000));
  r = {};
  memory_->abandon();
}

TEST_F(foreign_memory, may_outlive_the_device_and_is_not_closed_behind_it) {
  memory_range r = imported(0, 1000);
  memory_->abandon();
  r = {};
  EXPECT_EQ(source_.open, 1) << "the source is gone by then";
}

TEST_F(foreign_memory, cannot_be_sealed) {
  const memory_range r = imported(0, 4096);
  EXPECT_EQ(memory_->seals().begin(r).error().reaction(), reaction::caller_bug);
  memory_->abandon();
}

TEST_F(foreign_memory, that_was_there_already_is_neither_opened_nor_closed) {
  const auto share = std::make_shared<int>();
  {
    const memory_range r = memory_->adopt(4096, 100, share);
    EXPECT_EQ(r.address, 4096u);
    EXPECT_EQ(share.use_count(), 2);
    EXPECT_EQ(now().imported_bytes, 100u);
  }
  EXPECT_EQ(share.use_count(), 1);
  EXPECT_EQ(source_.open, 0);
  memory_->abandon();
}

TEST_F(device_blocks, of_other_devices_are_there_as_long_as_somebody_has_them_and_count_for_nothing) {
  const memory_statistics before = now();
  auto theirs = memory_->attach(memory_kind::host, 3 * mib, {}, true);
  ASSERT_TRUE(theirs) << theirs.error().to_string();
  EXPECT_EQ(source_.attached, (std::vector{std::pair(memory_kind::host, true)}));
  EXPECT_EQ(source_.live.size(), 1u);
  EXPECT_EQ((*theirs)->address, source_.live[0].first);
  EXPECT_EQ(now().imported_bytes, before.imported_bytes);
  EXPECT_EQ(now().reserved_bytes, before.reserved_bytes);
  theirs->reset();
  EXPECT_TRUE(source_.live.empty());
  EXPECT_EQ(now().imported_bytes, before.imported_bytes);
}

TEST_F(device_blocks, that_a_worker_has_made_for_itself_are_gone_with_it_and_nothing_brings_them_back) {
  const auto keep = std::make_shared<int>(1);
  const memory_quota quota(1 << 20);
  {
    const auto managed = memory_->manage(0x7000000, 1000, 1, quota, keep);
    ASSERT_TRUE(managed) << managed.error().to_string();
    block& b = *managed->owner.get();
    EXPECT_TRUE(b.managed);
    EXPECT_EQ(now().managed_bytes, 1000u);
    EXPECT_EQ(now().imported_bytes, 0u);
    EXPECT_EQ(quota.used(), 1024u);
    EXPECT_EQ(keep.use_count(), 2);
    memory_->lose(salvage::untouched, 5, error(reaction::context_lost, "test", "it died"));
    memory_->renew(b);
    EXPECT_TRUE(b.gone.load());
    EXPECT_NE(b.generation.load(), memory_->generation()) << "whoever uses it looks again";
    memory_->mark_written(b, b.address, b.address + 1000, 7);
    memory_->mark_refused(b, b.address, b.address + 1000, error(reaction::caller_bug, "test", "refused"));
    const auto why = memory_->stale_cause(b, b.address, b.address + 4);
    ASSERT_TRUE(why);
    EXPECT_NE(why->text().find("it died; managed memory goes with the worker"), std::string::npos) << why->text();
  }
  EXPECT_EQ(keep.use_count(), 1);
  EXPECT_EQ(quota.used(), 0u);
  EXPECT_EQ(now().managed_bytes, 0u);
}

TEST_F(device_blocks, that_were_made_by_a_worker_of_before_are_gone_from_birth) {
  memory_->lose(salvage::strict, 5, error(reaction::context_lost, "test", "it died"));
  const auto late = memory_->manage(0x7000000, 1000, 1, {}, nullptr),
             good = memory_->manage(0x7000000, 1000, 2, {}, nullptr);
  memory_->renew(*late->owner.get());
  memory_->renew(*good->owner.get());
  EXPECT_TRUE(late->owner->gone.load());
  EXPECT_FALSE(good->owner->gone.load());
}

TEST(attached_memory, is_refused_by_a_source_that_cannot_share) {
  fake_source source;
  device_memory* const memory = device_memory::make(source, {.device_bytes = mib, .host_bytes = mib});
  const auto theirs = memory->attach(memory_kind::device, mib, {}, true);
  ASSERT_FALSE(theirs);
  EXPECT_EQ(theirs.error().reaction(), reaction::unsupported);
  memory->abandon();
}

}  // namespace
}  // namespace troupe
