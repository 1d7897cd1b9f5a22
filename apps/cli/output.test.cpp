// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <apps/cli/output.hpp>
#include <memory>
#include <string>

namespace troupe::apps {
namespace {

// Returns the result and the message of `finish` for a file to which this many bytes were written. `early`: the bytes
// were flushed before, without a check.
int finished(const char* file, std::size_t bytes, int code, std::string& said, bool early = false) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file, "w"), &std::fclose);
  testing::internal::CaptureStderr();
  std::fputs(std::string(bytes, 'x').c_str(), out.get());
  if (early) std::fflush(out.get());
  const int got = finish(out.get(), code);
  said = testing::internal::GetCapturedStderr();
  return got;
}

TEST(output, changes_exit_code_0_to_1_if_output_is_lost) {
  std::string said;
  for (const std::size_t bytes : {10u, 1'000'000u})  // fewer than the buffer holds, and more
    for (const bool early : {false, true}) {
      EXPECT_EQ(finished("/dev/full", bytes, 0, said, early), 1) << bytes;
      EXPECT_EQ(said, "troupe: the output could not be written: No space left on device\n") << bytes << early;
    }
  EXPECT_EQ(finished("/dev/full", 10, 2, said), 2);
}

TEST(output, keeps_the_exit_code_if_all_output_is_written) {
  std::string said;
  for (const int code : {0, 1, 2}) EXPECT_EQ(finished("/dev/null", 10, code, said), code);
  EXPECT_EQ(finished("/dev/full", 0, 0, said), 0) << "nothing was written, so nothing is lost";
  EXPECT_EQ(said, "");
}

TEST(output, prints_help_as_one_json_object_on_one_line) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(print_help({.command = "troupe test", .options = {}, .about = "says \"much\"\n"}, true), 0);
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            R"({"name":"test","help":"troupe test [option...]\nsays \"much\"\n\n  --help  this text\n\n"})"
            "\n");
}

}  // namespace
}  // namespace troupe::apps
