// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The overhead of a launch: an empty kernel of one block, sent and awaited, compared with a loop of calls of the same
// compiled function.
#include <bench/device_under_test.hpp>
#include <bench/host/jit_kernels.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <bench/system/placement.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/cuda_on_host/loader.hpp>

namespace troupe::bench {
figures run_jit_launch(const settings& s) {
  constexpr int launches = 2000;
  const device_under_test gpu(s, {.libraries = {"jit"}, .wait = wait_policy::latency});
  const jit::program program = jit::compile(*gpu, {.source = "__global__ void nothing() {}", .name = "nothing.cu"});
  program.ready().get().value();
  const jit::launch request{.kernel = program.kernel("nothing"), .grid = 1, .block = 1};

  const auto image = cuda_on_host::loaded_image::load(program.image().get().value(), "nothing").value();
  const cuda_on_host::loaded_kernel& nothing = image.kernels().at(0);
  troupe_host_block block{};
  block.grid = block.block = {1, 1, 1};
  block.threads = 1;

  const placement placed(placement::where::two_cores, {gpu->statistics().worker_pid.value()});
  std::uint32_t status = 0;
  const auto per_launch = [](auto&& f) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < launches; ++i) f();
    return static_cast<double>(now_ns() - start) / launches / 1e3;
  };
  const pair_of_medians found = interleaved(
      s.rounds(51), [&] { return per_launch([&] { gpu->ask(request).get().value(); }); },
      [&] { return per_launch([&] { status |= nothing.run(&block); }); });
  figures f{.ours = found.ours, .raw = found.raw};
  char note[96];
  std::snprintf(note, sizeof note, "the round trip adds %.2f us", found.ours - found.raw);
  f.note = note;
  if (status != TROUPE_HOST_OK) f.objection = "the kernel did not run";
  return f;
}

}  // namespace troupe::bench
