// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests of NVRTC's precompiled headers. They need no GPU.
#include <gtest/gtest.h>
#include <nvrtc.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <troupe/jit/cuda/compile.hpp>

namespace troupe::jit {
namespace {

const nvrtc& installed() {
  static const nvrtc with = nvrtc::find().value();
  return with;
}

recipe with_headers(const std::string& mine, const std::string& kernel) {
  return {.source = "#include <cuda_fp16.h>\n#include <cuda/std/tuple>\n#include \"mine.h\"\n__global__ void " +
                    kernel + "(float* x) { x[0] = MINE; }",
          .headers = {{"mine.h", "#define MINE " + mine + "\n"}},
          .precompiled_headers = true};
}
compiled made_from(const recipe& r) {
  const auto c = compiler_for(installed(), r, 90);
  compiled out = compile(installed(), *c, r, compile_deadline());
  EXPECT_FALSE(out.failed) << out.failed->text() << out.log;
  return out;
}
std::string without(recipe r) {
  r.precompiled_headers = false;
  return made_from(r).image;
}

const char* const used = "note: precompiled headers: used\n";
const char* const made = "note: precompiled headers: made, for programs that begin with the same headers\n";

TEST(precompiled_headers, are_used_by_the_next_program_that_begins_with_them_without_changing_its_code) {
  const recipe first = with_headers("11", "a"), second = with_headers("11", "b");
  const compiled one = made_from(first), two = made_from(second);
  EXPECT_EQ(one.remarks, made);
  EXPECT_EQ(two.remarks, used);
  EXPECT_EQ(one.image, without(first));
  EXPECT_EQ(two.image, without(second));
  EXPECT_EQ(two.log, "") << "NVRTC's own messages about precompiled headers are removed";
}

// NVRTC alone would reuse the old headers, because it compares only the #include lines.
TEST(precompiled_headers, are_made_again_if_a_header_in_memory_or_on_disk_has_changed) {
  made_from(with_headers("21", "a"));
  const compiled memory = made_from(with_headers("22", "a"));
  EXPECT_EQ(memory.remarks, made);
  EXPECT_EQ(memory.image, without(with_headers("22", "a")));

  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("troupe-pch-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  recipe r{.source = "#include <cuda_fp16.h>\n#include \"disk.h\"\n__global__ void k(float* x) { x[0] = DISK; }",
           .include_paths = {folder.string()},
           .precompiled_headers = true};
  const auto write = [&](const char* text) {
    std::ofstream(folder / "disk.h") << text;
    // Make the file so old that its time is trusted.
    std::filesystem::last_write_time(folder / "disk.h",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::seconds(10));
  };
  write("#define DISK 1\n");
  EXPECT_EQ(made_from(r).remarks, made);
  EXPECT_EQ(made_from(r).remarks, used);
  write("#define DISK 2\n");
  const compiled changed = made_from(r);
  EXPECT_EQ(changed.remarks, made);
  EXPECT_EQ(changed.image, without(r));
  std::filesystem::remove_all(folder);
}

TEST(precompiled_headers, are_not_used_if_their_inputs_are_unknown) {
  recipe r = with_headers("__LINE__", "a");
  r.source = "#define H <cuda_fp16.h>\n#include H\n" + r.source;
  EXPECT_EQ(made_from(r).remarks, "note: precompiled headers: not used: it is unknown which files #include H reads\n");
  r = with_headers("1", "a");
  r.source += "// __TIME__";
  EXPECT_EQ(made_from(r).remarks, "note: precompiled headers: not used: the program mentions the time\n");
}

TEST(precompiled_headers, are_used_by_linked_programs) {
  recipe r = with_headers("31", "a");
  r.link_time_optimisation = true;
  r.units = {{.name = "b.cu", .source = with_headers("31", "b").source}};
  EXPECT_EQ(made_from(r).remarks, std::string(made) + used);
}

TEST(precompiled_headers, get_a_larger_heap_if_the_first_was_too_small) {
  ASSERT_EQ(::nvrtcSetPCHHeapSize(1 << 20), NVRTC_SUCCESS);
  const compiled first = made_from(with_headers("41", "a"));
  EXPECT_NE(first.remarks.find("not made: they need "), std::string::npos) << first.remarks;
  EXPECT_NE(first.remarks.find(", and the heap has been enlarged"), std::string::npos) << first.remarks;
  EXPECT_EQ(made_from(with_headers("41", "a")).remarks, made);
  EXPECT_EQ(made_from(with_headers("41", "a")).remarks, used);
}

TEST(precompiled_headers, can_be_used_by_many_threads) {
  const std::string expected = without(with_headers("51", "a"));
  std::vector<std::thread> all;
  for (int i = 0; i < 4; ++i) all.emplace_back([&] { EXPECT_EQ(made_from(with_headers("51", "a")).image, expected); });
  for (std::thread& t : all) t.join();
}

TEST(precompiled_headers, are_evicted_if_least_recently_used) {
  precompiled kept;
  std::string oldest;
  for (int i = 0; i < 9; ++i) {
    const auto turn = kept.begin(std::to_string(i), compile_deadline());
    ASSERT_TRUE(turn && *turn);
    if (i == 0) oldest = (*turn)->folder();
    EXPECT_TRUE(std::filesystem::is_directory((*turn)->folder()));
  }
  EXPECT_FALSE(std::filesystem::exists(oldest));
  const auto again = kept.begin("8", compile_deadline());
  EXPECT_TRUE((*again)->folder().ends_with("/9"));
  EXPECT_FALSE(*kept.begin("7", compile_deadline(now_ns() + 50'000'000))) << "one compile at a time may use them";
}

}  // namespace
}  // namespace troupe::jit
