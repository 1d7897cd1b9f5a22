// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <troupe/runtime/engine_choice.hpp>

namespace troupe {
namespace {

// The evidence of a machine with these GPUs. Counts how often the driver is asked.
struct machine {
  protocol::driver_description driver;
  int asked = 0;

  engine_choice choose(std::uint32_t ordinal = 0,
                       engine_evidence evidence = {.has_gpu_engines = true, .driver_is_loaded = true}) {
    evidence.ask_driver = [this] { return ++asked, driver; };
    return choose_engine(ordinal, evidence);
  }
};

machine with_one_gpu() {
  return {{.gpus = {{.name = "NVIDIA H200", .capability = "9.0", .bytes = 1u << 30, .mode = 0}}, .complete = true}};
}

void expect(const engine_choice& choice, const std::string& engine, const std::string& reason) {
  EXPECT_EQ(choice.engine, engine);
  EXPECT_EQ(choice.reason, reason);
}

TEST(engine_choice, is_a_gpu_if_one_serves_programs) {
  expect(with_one_gpu().choose(), "cuda", "GPU 0 is present: NVIDIA H200");
}

TEST(engine_choice, is_the_host_if_no_gpu_has_the_number) {
  expect(with_one_gpu().choose(1), "host", "the NVIDIA driver shows 1 GPUs, and none is number 1");
}

TEST(engine_choice, is_the_host_if_the_gpu_is_in_prohibited_mode) {
  machine m = with_one_gpu();
  m.driver.gpus[0].mode = 2;
  expect(m.choose(), "host", "GPU 0, NVIDIA H200, is in compute mode Prohibited");
}

TEST(engine_choice, is_the_host_if_the_driver_shows_no_gpu) {
  machine m{{.code = 100, .refused = "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)", .complete = true}};
  expect(m.choose(), "host",
         "the NVIDIA driver shows no GPU: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)");
  machine without_library{{.unloadable = "libcuda.so.1: cannot open shared object file", .complete = true}};
  expect(without_library.choose(), "host",
         "libcuda.so.1 cannot be loaded: libcuda.so.1: cannot open shared object file");
}

TEST(engine_choice, is_the_host_if_the_driver_does_not_answer) {
  const auto choice =
      choose_engine(0, {.has_gpu_engines = true, .driver_is_loaded = true, .ask_driver = [] {
                          return result<protocol::driver_description>(error(reaction::fatal, "test", "it has hung"));
                        }});
  expect(choice, "host", "the NVIDIA driver could not be queried: it has hung");
}

TEST(engine_choice, does_not_ask_the_driver_if_the_answer_cannot_matter) {
  machine m = with_one_gpu();
  expect(m.choose(0, {.driver_is_loaded = true}), "host", "no engines for GPUs are installed");
  expect(m.choose(0, {.has_gpu_engines = true}), "host", "no NVIDIA driver is loaded on this machine");
  expect(m.choose(0, {.environment = "host", .has_gpu_engines = true, .driver_is_loaded = true}), "host",
         "the environment variable TROUPE_ENGINE names it");
  EXPECT_EQ(m.asked, 0);
}

}  // namespace
}  // namespace troupe
