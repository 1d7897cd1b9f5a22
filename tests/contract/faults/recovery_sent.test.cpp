// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Data that the application sends is in memory that workers can only read, so a dying worker cannot damage it.
#include <fcntl.h>
#include <sys/mman.h>

#include <filesystem>
#include <fstream>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/device/library_access.hpp>
#include <troupe/memory/copying/staging.hpp>
#include <troupe/memory/requests.hpp>

#include "with_standbys.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;

class recovery_sent : public with_standbys {};
TROUPE_WITH_STANDBYS(recovery_sent);

TEST_P(recovery_sent, the_next_worker_runs_unstarted_uploads_and_requests_with_text) {
  const device gpu = open({.lanes = lane_policy::single});
  const auto small = gpu.alloc<float>(100), large = gpu.alloc<float>(400'000);
  blockade b(gpu);
  ASSERT_TRUE(b.entered());
  auto first = gpu.upload(small, counting(100)), second = gpu.upload(large, counting(400'000, 7));
  const std::string text(5000, 't');
  const std::vector<std::uint32_t> list(3000, 9);
  auto sum = gpu.ask(checksum{.text = text, .list = list});
  kill_worker(gpu);
  EXPECT_FALSE(b.answer().get());
  EXPECT_OK(first.get());
  EXPECT_OK(second.get());
  EXPECT_EQ(sum.get().value(), checksum_of(text, list));
  EXPECT_EQ(gpu.download(small).get().value(), counting(100));
  EXPECT_EQ(gpu.download(large).get().value(), counting(400'000, 7));
  EXPECT_EQ(gpu.statistics().generation, 2u);
}

TEST_P(recovery_sent, a_worker_cannot_write_sent_memory) {
  const device gpu = open();
  ASSERT_OK(gpu.upload(gpu.alloc<float>(100), counting(100)).get());
  const std::string process = "/proc/" + std::to_string(gpu.statistics().worker_pid.value());
  int places = 0;
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("troupe-sent-memory") == std::string::npos) continue;
    ++places;
    EXPECT_NE(line.find(" r--s "), std::string::npos) << line;
  }
  EXPECT_EQ(places, 1);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone).string().find("troupe-sent-memory") == std::string::npos)
      continue;
    ++files;  // sent memory is this same file
    const file_descriptor fd(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(fd);
    EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0), MAP_FAILED);
    void* const seen = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd.get(), 0);
    ASSERT_NE(seen, MAP_FAILED);
    EXPECT_EQ(::mprotect(seen, 4096, PROT_READ | PROT_WRITE), -1);
    ::munmap(seen, 4096);
    EXPECT_EQ(::pwrite(fd.get(), "x", 1, 0), -1);
  }
  EXPECT_EQ(files, 1);
}

// Damage that a worker can do to an upload that it has not begun: it counts chunks as read, so that the application
// reuses their places. The next worker must not take the new content for the beginning.
TEST_P(recovery_sent, an_upload_with_an_overwritten_chunk_fails) {
  const device gpu = open();
  constexpr std::uint64_t bytes = std::uint64_t{8} << 20;
  const staging_plan plan = staging_plan::for_bytes(bytes);
  ASSERT_GT(plan.count(), plan.chunks + 1);
  const auto target = gpu.alloc<std::byte>(bytes);
  const auto progress = gpu.alloc_host<std::byte>(sizeof(staging_header));
  const memory_range stage = library_access(gpu).alloc_sent(plan.block_bytes());
  std::construct_at(reinterpret_cast<staging_header*>(progress.data()));
  auto& sent = *std::construct_at(reinterpret_cast<sent_header*>(stage.owner->host));
  const memory::stream_in request{.target = target,
                                  .bytes = bytes,
                                  .staging = stage.address,
                                  .progress = out<std::byte>(progress.memory()),
                                  .chunk_bytes = plan.chunk_bytes,
                                  .chunks = plan.chunks};
  sent.begun.store(plan.chunks + 1);  // the first chunk's place contains a later chunk, or a part of it
  sent.filled.store(plan.chunks);
  EXPECT_TRUE(is_error(error_of(gpu.ask(request)), reaction::retry_later, {"memory.stream_in", "upload it again"}));
  EXPECT_FALSE(target.readable());
  sent.begun.store(plan.count());
  sent.filled.store(plan.count());
  EXPECT_FALSE(gpu.ask(request).get());
}

TEST_P(recovery_sent, sent_memory_counts_as_host_memory) {
  const device gpu = open({.host_memory_limit = 1 << 20});
  const memory_range half = library_access(gpu).alloc_sent(512 << 10);
  EXPECT_EQ(gpu.statistics().host_memory.used_bytes, 512u << 10);
  EXPECT_EQ(gpu.statistics().host_memory.live_buffers, 1u);
  const auto other = gpu.alloc_host<std::byte>(512 << 10);
  EXPECT_TRUE(other.readable());
  EXPECT_EQ(gpu.statistics().host_memory.free_bytes, 0u);
  EXPECT_EQ(gpu.statistics().host_memory.high_water_bytes, 1u << 20);
  EXPECT_TRUE(is_error(*gpu.alloc_host<std::byte>(1).cause(), reaction::retry_later, {"no room"}));
  EXPECT_TRUE(is_error(error_of(gpu.upload(gpu.alloc<float>(1), counting(1))), reaction::retry_later, {"no room"}));
}

}  // namespace
}  // namespace troupe::whole
