// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/memory/device_memory.hpp>

namespace troupe {
namespace {

struct fake_source final : segment_source {
  result<segment> grow(memory_kind, std::uint64_t bytes) override {
    return segment{std::uint64_t{1} << 40, bytes, nullptr, nullptr};
  }
  void shrink(memory_kind, const segment&) noexcept override {}
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
    memory_->mark_stale(*block_.get(), at(from), at(to), ticket,
                        error(reaction::fatal, "test", "request " + std::to_string(ticket)), [](auto&&) {});
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
  memory_->mark_refused(*block_.get(), at(0), at(256), error(reaction::caller_bug, "test", "refused"));
  writes(5);  // accepted before, and still on its way
  EXPECT_EQ(cause(), "refused");
  writes(6);
  EXPECT_EQ(cause(), "");
}

TEST_F(stale_marks, give_way_to_what_is_accepted_already_when_they_are_made) {
  memory_->mark_stale(*block_.get(), at(0), at(256), 5, error(reaction::fatal, "test", "request 5"),
                      [this](auto&& replaced) { replaced(at(0), at(64)); });
  EXPECT_EQ(cause(0, 64), "");
  EXPECT_EQ(cause(64, 256), "request 5");
}

}  // namespace
}  // namespace troupe
