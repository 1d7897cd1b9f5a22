// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <troupe/protocol/descriptions/description.hpp>

namespace troupe::protocol {
namespace {

using obstacle = engine_description::obstacle;

const engine_description engine{.library = "blas",
                                .backend = "host",
                                .version = "OpenBLAS 0.3.21",
                                .requests = {"blas.gemm<f32>", "blas.gemm<f16,f32>"},
                                .notes = {"threads: 2", "kernels: Haswell"},
                                .why = {},
                                .complete = true};
const driver_description driver{.library = "/lib/my drivers/libcuda.so.1",
                                .unloadable = {},
                                .version = 13000,
                                .refused = {},
                                .gpus = {{"NVIDIA H200", "9.0", 150754820096, 3}, {"A", "10.3", 1, 0}},
                                .unheard = "cannot load NVML: nothing",
                                .unnamed = "cannot read the log",
                                .complete = true};

TEST(engine_description, is_read_as_it_was_written) {
  const auto got = parse_engine_description(text_of(engine));
  EXPECT_EQ(got.library, engine.library);
  EXPECT_EQ(got.backend, engine.backend);
  EXPECT_EQ(got.version, engine.version);
  EXPECT_EQ(got.requests, engine.requests);
  EXPECT_EQ(got.notes, engine.notes);
  EXPECT_EQ(got.what, obstacle::none);
  EXPECT_TRUE(got.complete);
}

TEST(engine_description, states_why_an_engine_does_not_serve) {
  for (const obstacle o : {obstacle::unloadable, obstacle::no_device}) {
    const auto got = parse_engine_description(text_of({.what = o, .why = "for a reason"}));
    EXPECT_EQ(got.what, o);
    EXPECT_EQ(got.why, "for a reason");
    EXPECT_FALSE(got.complete);
  }
  for (const auto r : {reaction::caller_bug, reaction::unsupported, reaction::stopped, reaction::fatal}) {
    const auto got =
        parse_engine_description(text_of({.what = obstacle::refused, .why = "for a reason", .reaction = r}));
    EXPECT_EQ(got.what, obstacle::refused);
    EXPECT_EQ(got.reaction, r);
    EXPECT_EQ(got.why, "for a reason");
  }
}

TEST(engine_description, has_the_reaction_fatal_if_the_written_one_is_unknown) {
  EXPECT_EQ(parse_engine_description("refused politely but firmly\n").reaction, reaction::fatal);
}

TEST(engine_description, keeps_each_value_on_one_line) {
  const auto got = parse_engine_description(text_of({.version = "1.0\nend\nunloadable\tno"}));
  EXPECT_EQ(got.version, "1.0 end unloadable no");
  EXPECT_EQ(got.what, obstacle::none);
  EXPECT_FALSE(got.complete);
}

TEST(driver_description, is_read_as_it_was_written) {
  const auto got = parse_driver_description(text_of(driver));
  EXPECT_EQ(got.library, driver.library);
  EXPECT_EQ(got.version, driver.version);
  EXPECT_EQ(got.code, 0);
  EXPECT_EQ(got.refused, "");
  EXPECT_EQ(got.unloadable, "");
  EXPECT_TRUE(got.complete);
  ASSERT_EQ(got.gpus.size(), 2u);
  EXPECT_EQ(got.gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(got.gpus[0].capability, "9.0");
  EXPECT_EQ(got.gpus[0].bytes, 150754820096u);
  EXPECT_EQ(got.gpus[0].mode, 3);
  EXPECT_EQ(got.gpus[1].capability, "10.3");
  EXPECT_EQ(got.unheard, "cannot load NVML: nothing");
  EXPECT_EQ(got.unnamed, "cannot read the log");
}

TEST(driver_description, is_read_as_a_whole_if_it_was_written_in_parts) {
  const auto got = parse_driver_description(
      text_of({.library = "/lib/libcuda.so.1", .version = 12080}) +
      text_of({.code = 100, .refused = "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)"}) +
      text_of(driver_description{.complete = true}));
  EXPECT_EQ(got.library, "/lib/libcuda.so.1");
  EXPECT_EQ(got.version, 12080);
  EXPECT_EQ(got.code, 100);
  EXPECT_EQ(got.refused, "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)");
  EXPECT_TRUE(got.complete);
  EXPECT_EQ(parse_driver_description(text_of({.unloadable = "not there"})).unloadable, "not there");
}

// A process may write anything before it dies. Parsing must return nothing that the process did not write, and the
// result must be writable again.
TEST(descriptions, of_damaged_bytes_contain_only_text_that_was_written) {
  const char* set = std::getenv("TROUPE_SEED");
  const std::uint64_t seed = set != nullptr ? std::strtoull(set, nullptr, 0) : std::random_device{}();
  SCOPED_TRACE("again with TROUPE_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random() % 2 == 0 ? text_of(engine) : text_of(driver);
    if (random() % 4 == 0) text.resize(random() % 300);
    for (std::uint64_t hits = random() % 6; hits > 0 && !text.empty(); --hits)
      text[random() % text.size()] = static_cast<char>(random() % 3 == 0 ? '\n' : random());
    const auto e = parse_engine_description(text);
    ASSERT_LE(e.library.size() + e.backend.size() + e.version.size() + e.why.size(), text.size());
    ASSERT_LE(e.requests.size() + e.notes.size(), text.size());
    ASSERT_LE(e.reaction, reaction::fatal);
    ASSERT_EQ(parse_engine_description(text_of(e)).complete, e.complete);
    const auto d = parse_driver_description(text);
    ASSERT_LE(d.library.size() + d.unloadable.size() + d.refused.size() + d.gpus.size(), text.size());
    ASSERT_EQ(parse_driver_description(text_of(d)).gpus.size(), d.gpus.size());
  }
}

}  // namespace
}  // namespace troupe::protocol
