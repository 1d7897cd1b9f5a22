// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>
#include <troupe/worker/schedule/reporter.hpp>
#include <troupe/worker/testing/channel_in_memory.hpp>

namespace troupe {
namespace {

class reports : public testing::Test {
 protected:
  void report() {
    operation op;
    op.ticket = ++tickets_;
    reporter_.report(op, {.reaction = reaction::unsupported, .domain = "testing", .text = std::string(1500, 'x')});
  }
  std::uint64_t counted() const { return channel_.view().page().reports.load(); }

  testing_worker::channel_in_memory channel_{64};
  ring_writer writer_{channel_.reports()};
  reporter reporter_{channel_.view(), writer_};
  std::uint64_t tickets_ = 0;
};

TEST_F(reports, are_counted_from_one_for_each_worker) {
  reporter_.continue_after(1000);  // the previous worker's failures
  ring_reader reader(channel_.reports());
  for (std::uint64_t n = 1; n <= 3; ++n) {
    report();
    EXPECT_EQ(counted(), n);
  }
  for (std::uint64_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(reader.peek()) << n;
    reader.pop();
  }
}

// Otherwise a lane would wait forever, and without its report the request would be answered as a success.
TEST_F(reports, end_the_process_if_the_ring_stays_full) {
  EXPECT_EXIT(
      {
        for (int i = 0; i < 1000; ++i) report();
      },
      testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace troupe
