// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/memory/testing/device_memory_fixture.hpp>

namespace troupe::memory_tests {
namespace {

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

TEST_F(sealing_memory, a_sealable_block_shares_no_granule_with_another_block) {
  const block_ref before = take(100), b = sealable(5000), after = take(100);
  EXPECT_EQ(b->bytes, 5000u);
  EXPECT_EQ(b->address % 4096, 0u);
  EXPECT_TRUE(after->address >= b->address + 8192 || after->address + 256 <= b->address);
  EXPECT_EQ(now().used_bytes, 256u + 8192u + 256u);
  seal(b);
  EXPECT_EQ(source_.sealed, (std::map<std::uint64_t, std::uint64_t>{{b->address, 8192}}));
  EXPECT_EQ(now().sealed_bytes, 5000u);
}

TEST_F(sealing_memory, a_loss_spares_only_blocks_that_are_sealed_when_it_happens) {
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
  EXPECT_TRUE(valid(ended)) << "the seal ended after the loss, and the block was not renewed between";
  lose(salvage::strict);
  EXPECT_FALSE(valid(ended));
  EXPECT_TRUE(valid(sealed));
}

TEST_F(sealing_memory, the_answer_to_a_seal_is_ignored_after_an_unseal) {
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
  source_.again = true;
  memory_->seals().end(*b.get(), second->number, false);
  EXPECT_FALSE(source_.again) << "the workers are told, of which one may have sealed it all the same";
  EXPECT_EQ(b->seal.load(), seal_state::open);
  EXPECT_TRUE(source_.sealed.empty());
}

TEST_F(sealing_memory, a_refused_unseal_leaves_a_sealed_or_sealing_block_sealed) {
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

TEST_F(sealing_memory, a_worker_that_seals_by_a_request_gets_no_message_unless_the_request_was_lost) {
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

TEST_F(sealing_memory, releasing_the_last_handle_ends_the_seal) {
  block_ref b = sealable(100);
  seal(b);
  b.reset();
  EXPECT_TRUE(source_.sealed.empty());
  EXPECT_EQ(now().sealed_bytes, 0u);
  const block_ref next = sealable(100);
  EXPECT_EQ(next->seal.load(), seal_state::open);
}

TEST_F(sealing_memory, the_segment_of_a_sealable_block_never_shares_its_descriptor) {
  const block_ref b = sealable(100), plain = take(100);
  expect_refused(
      memory_->seals().begin_export(*b.get()),
      "export_memory: the buffer shares its descriptor with others that may be sealed, and its holder can write "
      "them; copy it to a buffer without alloc_options::sealable, and export that one");
  ASSERT_TRUE(memory_->seals().begin_export(*plain.get()));
  ASSERT_EQ(source_.live.size(), 2u);
  const auto in = [&](std::size_t i, const block_ref& x) { return x->address - source_.live[i].first < 64 * mib; };
  EXPECT_TRUE(in(0, b) && in(1, plain));
  EXPECT_TRUE(in(0, sealable(100))) << "many have one segment";
}

TEST_F(sealing_memory, a_block_that_this_program_can_write_is_not_sealed_until_its_address_is_released) {
  const block_ref b = sealable(100);
  ASSERT_TRUE(memory_->seals().begin_address(*b.get()));
  ASSERT_TRUE(memory_->seals().begin_address(*b.get()));
  memory_->seals().end_address(*b.get());
  expect_refused(memory_->seals().begin(all_of(b)),
                 "seal: this program has an address of the buffer and can write there; release the address() handle "
                 "and the to_dlpack tensors first, or copy the buffer to another, and seal that one");
  memory_->seals().end_address(*b.get());
  seal(b);
  EXPECT_FALSE(memory_->seals().begin_address(*b.get())) << "for reading only";
  ASSERT_TRUE(memory_->seals().begin_unseal(all_of(b)));
  EXPECT_FALSE(memory_->seals().begin_address(*b.get())) << "the end of the seal may still be refused";
}

TEST_F(sealing_memory, sealable_and_other_blocks_share_the_limit) {
  {
    const block_ref plain = take(200 * mib);
    EXPECT_FALSE(memory_->allocate(memory_kind::device, 57 * mib, 256, {}, true));
    EXPECT_TRUE(memory_->allocate(memory_kind::device, 56 * mib, 256, {}, true));
  }
  EXPECT_TRUE(memory_->allocate(memory_kind::device, 256 * mib, 256, {}, true))
      << "idle segments of the others are released";
  EXPECT_TRUE(take(256 * mib)) << why_;
}

TEST_F(sealing_memory, a_refused_request_does_not_make_a_sealed_block_stale) {
  const block_ref b = sealable(100);
  seal(b);
  memory_->mark_refused(*b.get(), b->address, b->address + 100, error(reaction::caller_bug, "test", "refused"));
  EXPECT_TRUE(valid(b));
}

TEST_F(sealing_memory, sent_memory_outlives_a_loss_unless_its_fate_is_lost) {
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

// Memory that can be sealed only in whole segments, as on a GPU.
class sealing_whole_segments : public sealing_memory {
 protected:
  sealing_whole_segments() {
    memory_->abandon();
    memory_ = device_memory::make(
        source_,
        {.device_bytes = 256 * mib, .host_bytes = 10 * 256, .seal_granule = segment_alignment, .seals_segments = true});
  }
};

TEST_F(sealing_whole_segments, a_sealable_block_has_its_own_segment_while_it_exists) {
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

TEST_F(sealing_whole_segments, an_alignment_above_that_of_segments_is_refused) {
  expect_refused(
      memory_->allocate(memory_kind::device, 100, 2 * segment_alignment, {}, true),
      "alloc: alignment is 4194304; expected at most 2097152 with alloc_options::sealable on this device: ask for "
      "less, or leave out sealable");
  EXPECT_TRUE(take(100, 2 * segment_alignment)) << why_;
}

TEST_F(sealing_whole_segments, a_block_is_never_both_exported_and_sealed) {
  block_ref b = sealable(100);
  seal(b);
  EXPECT_FALSE(memory_->seals().begin_export(*b.get()));
  ASSERT_TRUE(memory_->seals().begin_unseal(all_of(b)));
  EXPECT_FALSE(memory_->seals().begin_export(*b.get())) << "the end of the seal may still be refused";
  memory_->seals().end_unseal(*b.get(), 7);
  ASSERT_TRUE(memory_->seals().begin_export(*b.get()));
  ASSERT_TRUE(memory_->seals().begin_export(*b.get())) << "again";
  expect_refused(memory_->seals().begin(all_of(b)),
                 "seal: a descriptor of the buffer was given out (export_memory), and its holder can write; copy it to "
                 "another buffer, and seal that one");
  EXPECT_EQ(b->seal.load(), seal_state::open);
  lose(salvage::strict);
  EXPECT_FALSE(memory_->seals().begin(all_of(b))) << "another program still has the descriptor";
  b.reset();
  EXPECT_TRUE(source_.live.empty()) << "memory that another program can write is not reused";
  const block_ref next = sealable(100);
  EXPECT_TRUE(memory_->seals().begin(all_of(next))) << "no descriptor of this one was given out";
}

TEST_F(sealing_whole_segments, of_a_simultaneous_seal_and_export_one_is_refused) {
  for (int i = 0; i < 2000; ++i) {
    const block_ref b = sealable(100);
    bool sealed = false, exported = false;
    std::thread other([&] { exported = static_cast<bool>(memory_->seals().begin_export(*b.get())); });
    sealed = static_cast<bool>(memory_->seals().begin(all_of(b)));
    other.join();
    ASSERT_NE(sealed, exported) << i;
  }
}

// A source that can map the memory of another program.
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

TEST_F(foreign_memory, is_mapped_while_it_is_referenced_and_counts_against_no_limit) {
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

TEST_F(foreign_memory, becomes_stale_with_a_worker_and_can_be_written_again) {
  memory_range r = imported(0, 1000);
  memory_->lose(salvage::strict, 5, error(reaction::context_lost, "test", "the worker died"));
  memory_->renew(*r.owner.get());
  EXPECT_EQ(memory_->stale_cause(*r.owner.get(), r.address, r.address + 1000)->text(), "the worker died");
  memory_->mark_written(*r.owner.get(), r.address, r.address + 1000, 6);
  EXPECT_FALSE(memory_->stale_cause(*r.owner.get(), r.address, r.address + 1000));
  r = {};
  memory_->abandon();
}

TEST_F(foreign_memory, may_outlive_the_device_and_then_stays_mapped) {
  memory_range r = imported(0, 1000);
  memory_->abandon();
  r = {};
  EXPECT_EQ(source_.open, 1) << "the source no longer exists then";
}

TEST_F(foreign_memory, cannot_be_sealed) {
  const memory_range r = imported(0, 4096);
  EXPECT_EQ(memory_->seals().begin(r).error().reaction(), reaction::caller_bug);
  memory_->abandon();
}

TEST_F(foreign_memory, is_neither_mapped_nor_unmapped_if_the_worker_has_it_already) {
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

TEST_F(device_blocks, of_other_devices_exist_while_referenced_and_count_against_no_limit) {
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

TEST_F(device_blocks, of_managed_memory_are_lost_forever_with_the_worker_that_made_them) {
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
    EXPECT_NE(b.generation.load(), memory_->generation()) << "a thread that uses it renews it again";
    memory_->mark_written(b, b.address, b.address + 1000, 7);
    memory_->mark_refused(b, b.address, b.address + 1000, error(reaction::caller_bug, "test", "refused"));
    const auto why = memory_->stale_cause(b, b.address, b.address + 4);
    ASSERT_TRUE(why);
    EXPECT_NE(why->text().find("it died; managed memory is lost with the worker"), std::string::npos) << why->text();
  }
  EXPECT_EQ(keep.use_count(), 1);
  EXPECT_EQ(quota.used(), 0u);
  EXPECT_EQ(now().managed_bytes, 0u);
}

TEST_F(device_blocks, of_managed_memory_are_lost_from_the_start_if_an_earlier_worker_made_them) {
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
}  // namespace troupe::memory_tests
