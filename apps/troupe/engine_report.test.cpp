// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <apps/troupe/engine_report.hpp>
#include <chrono>

namespace troupe::apps {
namespace {

using condition = engine_report::condition;
constexpr exit_status well{exit_status::ending::exited, 0}, no{exit_status::ending::exited, 1},
    crashed{exit_status::ending::signalled, 11};

engine_report read(std::string_view description, exit_status end, std::string_view complaints = "") {
  engine_report r;
  r.file = {.library = "fft", .backend = "host", .path = "/engines/fft.host.so"};
  r.package = "libfftw3-double3";
  read_description(r, {.description = std::string(description), .complaints = std::string(complaints), .end = end});
  return r;
}

TEST(engine_report, describes_a_usable_engine) {
  const auto r =
      read("library fft\nbackend host\nversion FFTW 3.3\nrequest fft.forward<f32>\nnote threads: 2\nend \n", well);
  EXPECT_EQ(r.is, condition::serves);
  EXPECT_EQ(r.version, "FFTW 3.3");
  EXPECT_EQ(r.requests, std::vector<std::string>{"fft.forward<f32>"});
  EXPECT_EQ(r.notes, std::vector<std::string>{"threads: 2"});
}

TEST(engine_report, distinguishes_a_missing_vendor_library_from_a_broken_engine) {
  const auto r = read(
      "unloadable library fft: cannot load its engine: libfftw3.so.3: cannot open shared object file: No "
      "such file or directory; install libfftw3-double3\nend\n",
      no);
  EXPECT_EQ(r.is, condition::needs_library);
  EXPECT_EQ(r.why, "libfftw3.so.3: cannot open shared object file: No such file or directory");
}

TEST(engine_report, distinguishes_an_outdated_vendor_library_from_a_broken_engine) {
  for (const char* why : {"/engines/fft.host.so: undefined symbol: fftw_plan_guru64_dft, version libfftw3.so.3",
                          "/usr/lib/libfftw3.so.3: version `FFTW_3.4' not found (required by /engines/fft.host.so)"}) {
    const auto r = read("unloadable library fft: cannot load its engine: " + std::string(why) + "\nend\n", no);
    EXPECT_EQ(r.is, condition::outdated_library) << why;
  }
  EXPECT_EQ(read("unloadable /engines/fft.host.so: undefined symbol: _ZN6troupe3fft4planE\nend\n", no).is,
            condition::broken)
      << "a symbol of Troupe's own is missing";
}

TEST(engine_report, distinguishes_a_missing_device_from_a_broken_engine) {
  const auto r = read("no_device cuInit: no GPU can be used\nend\n", no);
  EXPECT_EQ(r.is, condition::no_device);
  EXPECT_EQ(r.why, "cuInit: no GPU can be used");
}

TEST(engine_report, reports_other_unloadable_files_as_broken) {
  EXPECT_EQ(
      read("unloadable /engines/fft.host.so: cannot open shared object file: No such file or directory\nend\n", no).is,
      condition::broken);
  EXPECT_EQ(read("unloadable /engines/fft.host.so: invalid ELF header\nend\n", no).is, condition::broken);
  EXPECT_EQ(read("refused fatal the vendor library is not what it says\nend\n", no).is, condition::broken);
}

TEST(engine_report, reports_an_engine_that_refuses_the_machine_as_unsuited) {
  const auto r = read("refused unsupported library fft: expected model 7\nend\n", no);
  EXPECT_EQ(r.is, condition::unsuited);
  EXPECT_EQ(r.why, "expected model 7");
}

TEST(engine_report, reports_a_crash_with_the_last_words_of_the_process) {
  const auto loaded = read("", crashed, "some noise\nassertion failed\n\n");
  EXPECT_EQ(loaded.is, condition::broken);
  EXPECT_EQ(loaded.why, "killed by signal 11 (SIGSEGV) while it was loaded; it said: assertion failed");
  EXPECT_EQ(read("library fft\nrequest fft.forward<f32>\n", crashed).why,
            "killed by signal 11 (SIGSEGV) while it was closed");
  EXPECT_EQ(read("", {}).why, "hangs while it was loaded");
  EXPECT_EQ(read("library fft\nend\n", crashed).is, condition::broken);
  EXPECT_EQ(read("", well).is, condition::broken);
}

TEST(engine_report, kills_an_engine_that_hangs_beyond_the_time_limit) {
  char name[] = "/tmp/troupe-worker-XXXXXX";
  const int fd = ::mkstemp(name);
  const std::string_view script = "#!/bin/sh\necho looking for accelerators >&2\nexec sleep 1000\n";
  ASSERT_EQ(::write(fd, script.data(), script.size()), static_cast<ssize_t>(script.size()));
  ASSERT_EQ(::fchmod(fd, 0700), 0);
  ::close(fd);
  const auto all = examine(name, {{.library = "fft", .backend = "host", .path = "/nowhere/fft.host.so"}},
                           std::chrono::milliseconds(500));
  ::unlink(name);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].is, condition::broken);
  EXPECT_TRUE(all[0].why.starts_with("hangs while it was loaded")) << all[0].why;
}

TEST(engine_report, groups_requests_by_operation) {
  const auto all = grouped({"blas.gemm<f32>", "blas.dot<f32>", "blas.gemm<f16,f32>", "memory.copy"});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].operation, "gemm");
  EXPECT_EQ(all[0].types, (std::vector<std::string>{"f32", "f16,f32"}));
  EXPECT_EQ(all[2].operation, "copy");
  EXPECT_TRUE(all[2].types.empty());
}

}  // namespace
}  // namespace troupe::apps
