// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "many_runs.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <new>

namespace troupe::simulation {
namespace {

constexpr unsigned longest_run = 10;  // seconds

run_record* shared_record() {
  void* const p = ::mmap(nullptr, sizeof(run_record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) std::abort();
  return new (p) run_record;
}

void run_one(std::uint64_t seed, run_record& record, const omitted_steps& omitted) {
  ::alarm(longest_run);
  simulation(seed, record, omitted).run();
  ::alarm(0);
  ++record.finished;
  record.hash_of_all = (record.hash_of_all ^ record.hash) * 0x100000001b3u;
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

template <class F>
int in_a_process(F&& f) {
  const int child = ::fork();
  if (child == 0) {
    f();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

std::string what_is_wrong(int status, const run_record& record) {
  if (record.violated) return record.violation;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "a step does not end within " + std::to_string(longest_run) + " s";
  if (WIFSIGNALED(status)) return "the program died of signal " + std::to_string(WTERMSIG(status));
  return "the program ended with code " + std::to_string(WEXITSTATUS(status));
}

// Identifies the broken rule: the text without its numbers and details.
std::string rule(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, text.find(':')))
    if (c < '0' || c > '9') out += c;
  return out;
}

// Leaves out as many steps as possible, larger parts first.
omitted_steps shrink(std::uint64_t seed, std::uint32_t steps, const std::string& broken, run_record& record) {
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + std::chrono::seconds(std::getenv("TROUPE_AS_FOUND") != nullptr ? 0 : 5);
  omitted_steps omitted(steps + 1);
  for (std::uint32_t size = steps / 2; size > 0 && clock::now() < until; size /= 2)
    for (std::uint32_t from = 1; from <= steps && clock::now() < until; from += size) {
      omitted_steps fewer = omitted;
      for (std::uint32_t i = from; i < from + size && i <= steps; ++i) fewer[i] = true;
      if (fewer == omitted) continue;
      const int status = in_a_process([&] { run_one(seed, record, fewer); });
      if (status != 0 && rule(what_is_wrong(status, record)) == broken) omitted = std::move(fewer);
    }
  return omitted;
}

failed_run explain(std::uint64_t seed, run_record& record) {
  int status = in_a_process([&] { run_one(seed, record, {}); });
  if (status == 0) return {seed, "it failed, but not when run again: something does not depend on the seed alone"};
  failed_run out{seed, what_is_wrong(status, record) + "\n  seed " + std::to_string(seed) + ", step " +
                           std::to_string(record.steps) + "\n"};
  const std::uint32_t all = record.steps;
  const omitted_steps omitted = shrink(seed, all, rule(what_is_wrong(status, record)), record);
  status = in_a_process([&] { run_one(seed, record, omitted); });
  std::uint32_t left = 0;
  for (std::uint32_t i = 1; i <= all; ++i) left += !omitted[i];
  out.text += "shrunk from " + std::to_string(all) + " steps to " + std::to_string(left) + ": " +
              what_is_wrong(status, record) + "\n" + record.tail(60) + "replay: TROUPE_SEED=" + std::to_string(seed) +
              " TROUPE_SCHEDULES=1 troupe_simulation_test\n";
  return out;
}

}  // namespace

summary run_many(std::uint64_t first, std::uint64_t count, std::uint64_t stride) {
  return run_many([=](std::uint64_t i) { return first + i * stride; }, count);
}

summary run_many(const std::function<std::uint64_t(std::uint64_t)>& seed_of, std::uint64_t count) {
  run_record* const record = shared_record();
  const int status = in_a_process([&] {
    const std::size_t files = open_files();
    for (std::uint64_t i = 0; i < count; ++i) run_one(seed_of(i), *record, {});
    if (open_files() != files) record->fail("files are left open");
  });
  summary out{.failure = {},
              .finished = record->finished,
              .hash_of_all = record->hash_of_all,
              .recoveries = record->recoveries,
              .garbage = record->garbage,
              .answers = record->answers,
              .failures = record->failures};
  if (status != 0 && out.finished == count)
    out.failure = {record->seed, what_is_wrong(status, *record)};
  else if (status != 0)
    out.failure = explain(record->seed, *record);
  ::munmap(record, sizeof *record);
  return out;
}

}  // namespace troupe::simulation
