// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The overhead of launches on a GPU: an empty kernel, launched one at a time and in a long sequence, with the same
// machine code on both sides.
#include <bench/device_under_test.hpp>
#include <bench/gpu/kernels.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/gpu/steps.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cstdio>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/graph/graph.hpp>

namespace troupe::bench {
namespace {

double microseconds_since(std::int64_t start) { return static_cast<double>(now_ns() - start) / 1e3; }

std::string put_together(const device& gpu) {
  std::uint64_t together = 0, all = 0;
  for (const lane_statistics& l : gpu.statistics().lanes) together += l.together, all += l.completed;
  return cat(all == 0 ? 0 : together * 100 / all, " % of all requests shared a call with others");
}

figures run_stream_with(const settings& s, bool coalesce) {
  // All of these launches fit the mailbox, so no call waits for room, and the time of a call is its cost for the
  // caller.
  constexpr int launches = 100'000, without_waiting = 60'000;
  constexpr double most_ns = 150;
  raw_side raw(s);
  const device_under_test gpu(s, {.mailbox_capacity = 65536,
                                  .when_full = when_full::wait,
                                  .libraries = {"jit"},
                                  .wait = wait_policy::latency,
                                  .coalesce = coalesce});
  const jit::program program = compiled(*gpu, empty_kernel);
  const auto image = program.image().get().value();
  const auto bare = raw->kernel(image);
  const jit::launch request{.kernel = program.kernel("nothing"), .grid = 1, .block = 1};

  std::vector<double> callers_ns;
  const std::uint64_t failed_before = gpu->statistics().failed;
  int refused = 0;
  const pair_of_medians found = interleaved(
      s.rounds(11),
      [&] {
        gpu->ping().get().value();
        const std::int64_t start = now_ns();
        for (int i = 0; i < without_waiting; ++i) refused += !gpu->tell(request);
        callers_ns.push_back(static_cast<double>(now_ns() - start) / without_waiting);
        for (int i = without_waiting; i < launches; ++i) refused += !gpu->tell(request);
        gpu->sync().get().value();
        return launches / microseconds_since(start) * 1e3;
      },
      [&] {
        const std::int64_t start = now_ns();
        for (int i = 0; i < launches; ++i) bare->launch();
        bare->synchronize();
        return launches / microseconds_since(start) * 1e3;
      },
      [&] { callers_ns.clear(); });
  figures f{.ours = found.ours, .raw = found.raw};
  const double caller = median(std::move(callers_ns));
  char text[120];
  std::snprintf(text, sizeof text, "a tell costs its caller %.0f ns, for the first %d, which fit the mailbox; %s",
                caller, without_waiting, put_together(*gpu).c_str());
  f.note = text;
  if (caller > most_ns) f.missed = "the cost of a tell for its caller <= 150 ns";
  if (refused != 0) f.objection = cat(refused, " launches were refused");
  if (gpu->statistics().failed != failed_before) f.objection = "launches failed";
  return f;
}

}  // namespace

figures run_gpu_roundtrip(const settings& s) {
  constexpr int launches = 1000;
  raw_side raw(s);
  const device_under_test gpu(s, {.libraries = {"jit"}, .wait = wait_policy::latency});
  const jit::program program = compiled(*gpu, empty_kernel);
  const auto image = program.image().get().value();
  const auto bare = raw->kernel(image);
  const jit::launch request{.kernel = program.kernel("nothing"), .grid = 1, .block = 1};

  std::vector<double> ours, raws;
  const pair_of_medians found = interleaved(
      s.rounds(31), [&] { return median_of_each(launches, ours, [&] { gpu->ask(request).get().value(); }); },
      [&] {
        return median_of_each(launches, raws, [&] {
          bare->launch();
          bare->poll_until_done();
        });
      },
      [&] {
        ours.clear();
        raws.clear();
      });
  figures f{.ours = found.ours, .raw = found.raw};
  char note[120];
  std::snprintf(note, sizeof note, "99th percentiles %.1f and %.1f us; the round trip adds %.2f us",
                percentile(std::move(ours), 0.99), percentile(std::move(raws), 0.99), found.ours - found.raw);
  f.note = note;
  return f;
}

figures run_gpu_stream(const settings& s) { return run_stream_with(s, true); }

// A sequence of launches that repeats with other arguments each time, as the layers of a model do.
figures run_gpu_stream_mixed(const settings& s) {
  constexpr int launches = 64, repeats = 1000;
  raw_side raw(s);
  const device_under_test gpu(
      s, {.mailbox_capacity = 65536, .when_full = when_full::wait, .libraries = {"jit"}, .wait = wait_policy::latency});
  const jit::program program = compiled(*gpu, step_kernels);
  const auto image = program.image().get().value();
  const auto bare = raw->steps(image);
  const auto numbers = gpu->alloc<std::uint32_t>(step::numbers);
  gpu->fill(numbers, 0).get().value();
  std::vector<jit::launch> sequence;
  for (int i = 0; i < launches; ++i)
    sequence.push_back({.kernel = program.kernel("step_" + std::to_string(step::of(i).kind)),
                        .grid = step::of(i).blocks,
                        .block = step::threads});
  int refused = 0, rounds = 0;
  const auto argument = [](int repeat, int i) { return static_cast<std::uint32_t>(repeat * 77 + i); };
  const pair_of_medians found = interleaved(
      s.rounds(11),
      [&] {
        const std::int64_t start = now_ns();
        for (int r = 0; r < repeats; ++r)
          for (int i = 0; i < launches; ++i) {
            jit::launch& l = sequence[static_cast<std::size_t>(i)];
            l.arguments = {inout(numbers), argument(r, i)};
            refused += !gpu->tell(l);
          }
        gpu->sync().get().value();
        ++rounds;
        return repeats * launches / microseconds_since(start) * 1e3;
      },
      [&] {
        const std::int64_t start = now_ns();
        for (int r = 0; r < repeats; ++r)
          for (int i = 0; i < launches; ++i) bare->launch(step::of(i), argument(r, i));
        bare->synchronize();
        return repeats * launches / microseconds_since(start) * 1e3;
      });
  std::vector<std::uint32_t> right(step::numbers);
  for (int n = 0; n < rounds; ++n)
    for (int r = 0; r < repeats; ++r)
      for (int i = 0; i < launches; ++i) step::of(i).apply(right, argument(r, i));
  figures f{.ours = found.ours, .raw = found.raw, .note = put_together(*gpu)};
  if (refused != 0) f.objection = cat(refused, " launches were refused");
  if (gpu->download(numbers).get().value() != right) f.objection = "the results are wrong";
  if (bare->numbers() != right) f.objection = "the results of the raw side are wrong";
  return f;
}

figures run_gpu_stream_alone(const settings& s) { return run_stream_with(s, false); }

figures run_gpu_graph(const settings& s) {
  constexpr int kernels = 4000, branches = 4;
  raw_side raw(s);
  const device_under_test gpu(s, {.libraries = {"jit", "graph"}, .wait = wait_policy::latency});
  const jit::program program = compiled(*gpu, empty_kernel);
  const auto image = program.image().get().value();
  const auto bare = raw->kernel(image);
  bare->record(kernels, branches);
  graph::recorder rec(*gpu, {.name = "4000 kernels", .branches = branches});
  for (int i = 0; i < kernels; ++i) rec.add(jit::launch{.kernel = program.kernel("nothing"), .grid = 1, .block = 1});
  const graph::graph recorded = rec.finish();
  const graph::launch request{.graph = recorded};
  const std::int64_t start = now_ns();
  gpu->ask(request).get().value();
  const double first = microseconds_since(start);

  std::vector<double> ours, raws;
  const pair_of_medians found = interleaved(
      s.rounds(21), [&] { return median_of_each(20, ours, [&] { gpu->ask(request).get().value(); }); },
      [&] {
        return median_of_each(20, raws, [&] {
          bare->launch_recorded();
          bare->poll_until_done();
        });
      });
  figures f{.ours = found.ours, .raw = found.raw};
  char note[120];
  std::snprintf(note, sizeof note, "the first launch, which makes the graph in the worker, took %.1f ms", first / 1e3);
  f.note = note;
  return f;
}

}  // namespace troupe::bench
