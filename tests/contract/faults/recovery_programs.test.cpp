// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that programs survive the loss of workers: a handle stays usable, because workers build the program from its
// recipe.
#include <filesystem>

#include <tests/contract/kernels/jit_source.hpp>
#include "with_standbys.hpp"

namespace troupe::whole {
namespace {

using namespace testing_actor;
namespace fs = std::filesystem;

class recovery_programs : public with_standbys {
 protected:
  recovery_programs() : with_standbys(10) {}
  // y = 3 x + y by a kernel that has four parameters.
  template <class Launch, class Program>
  static void expect_launching(const device& gpu, const Program& p) {
    const auto x = uploaded(gpu, counting(64)), y = uploaded(gpu, counting(64));
    gpu.tell(Launch{.kernel = p.kernel("saxpy"), .grid = 2, .block = 32, .arguments = {3.0f, x, inout(y), 64}});
    const auto got = gpu.download(y).get();
    ASSERT_OK(got);
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ((*got)[i], 4.0f * static_cast<float>(i));
  }
};
TROUPE_WITH_STANDBYS(recovery_programs);

TEST_P(recovery_programs, a_compiled_program_launches_on_every_worker) {
  const device gpu = open();
  jit::recipe r = saxpy_recipe();
  r.source = "#warning kept\n" + r.source;
  const jit::program p = jit::compile(gpu, r);
  ASSERT_OK(p.ready().get());
  const std::string log = p.log().get().value();
  EXPECT_NE(log.find("kept"), std::string::npos) << log;
  for (int i = 0; i < 3; ++i) {
    kill_and_wait(gpu);
    if (i != 1) expect_launching<jit::launch>(gpu, p);
    EXPECT_OK(p.ready().get());
    EXPECT_EQ(p.summary().get().value().kernels, 1u);
    EXPECT_EQ(p.log().get().value(), log) << "repeated by a worker that has not reported it before";
    EXPECT_EQ(p.attributes("saxpy").get().value().parameters.size(), 4u);
    EXPECT_FALSE(p.image().get().value().empty());
    expect_launching<jit::launch>(gpu, p);
  }
}

TEST_P(recovery_programs, a_module_launches_on_every_worker) {
  const device gpu = open();
  const module::image image = module::load(gpu, test_image());
  ASSERT_OK(image.ready().get());
  for (int i = 0; i < 3; ++i) {
    kill_and_wait(gpu);
    if (i != 1) expect_launching<module::launch>(gpu, image);
    EXPECT_EQ(image.summary().get().value().kernels, 7u);
    EXPECT_EQ(image.attributes("saxpy").get().value().parameters.size(), 4u);
    expect_launching<module::launch>(gpu, image);
  }
}

TEST_P(recovery_programs, a_queued_or_running_build_is_repeated_with_its_dependents) {
  const fs::path room = fs::temp_directory_path() / ("troupe-build-" + unique());
  fs::create_directories(room);
  const fs::path script = room / "slow-c++", marker = room / "begun";
  // The first build runs until its worker dies.
  std::ofstream(script) << "#!/bin/sh\nfor a; do case $a in -o*) if ! [ -e " << marker.string() << " ]; then : > "
                        << marker.string() << "; exec sleep 1000; fi;; esac; done\nexec c++ \"$@\"\n";
  fs::permissions(script, fs::perms::owner_all);
  const device gpu = open({.helpers = 1, .salvage = salvage::untouched});
  jit::recipe r = saxpy_recipe();
  r.source += "// " + unique();
  r.compiler = script.string();
  const jit::program under_way = jit::compile(gpu, r);
  r = saxpy_recipe();
  r.source += "// " + unique();
  const jit::program queued = jit::compile(gpu, r);  // there is one helper thread
  while (!fs::exists(marker)) std::this_thread::yield();
  const auto y = gpu.alloc<float>(64), z = gpu.alloc<float>(64);
  auto ready = under_way.ready();
  std::vector<pending<void>> launches;
  for (const auto& [p, to] : {std::pair(under_way, y), std::pair(queued, z)}) {
    gpu.fill(to, 1.0f);
    const auto x = uploaded(gpu, counting(64));
    launches.push_back(gpu.ask(
        jit::launch{.kernel = p.kernel("saxpy"), .grid = 2, .block = 32, .arguments = {3.0f, x, inout(to), 64}}));
  }
  kill_worker(gpu);
  for (auto& l : launches) EXPECT_OK(l.get());
  EXPECT_OK(ready.get());
  expect_launching<jit::launch>(gpu, under_way);
  expect_launching<jit::launch>(gpu, queued);
  fs::remove_all(room);
}

TEST_P(recovery_programs, lost_programs_block_no_other_request_while_they_are_rebuilt) {
  const fs::path room = fs::temp_directory_path() / ("troupe-build-" + unique());
  fs::create_directories(room);
  const fs::path script = room / "slow-c++", hold = room / "hold";
  std::ofstream(script) << "#!/bin/sh\nwhile [ -e " << hold.string() << " ]; do sleep 0.01; done\nexec c++ \"$@\"\n";
  fs::permissions(script, fs::perms::owner_all);
  const device gpu = open();
  jit::recipe r = saxpy_recipe();
  r.compiler = script.string();
  r.cache = jit::cache_use::none;
  const jit::program p = jit::compile(gpu, r);
  ASSERT_OK(p.ready().get());
  std::ofstream(hold).put('x');
  kill_and_wait(gpu);
  // Small enough that each runs at once.
  auto launched =
      gpu.ask(jit::launch{.kernel = p.kernel("saxpy"),
                          .grid = 2,
                          .block = 32,
                          .arguments = {3.0f, uploaded(gpu, counting(64)), inout(uploaded(gpu, counting(64))), 64}});
  auto summary = p.summary();
  for (std::uint64_t i = 0; i < 20; ++i) {
    const auto pong = gpu.ping(i).get_for(std::chrono::seconds(5));
    EXPECT_TRUE(pong && *pong);
  }
  EXPECT_FALSE(launched.ready());
  fs::remove(hold);
  EXPECT_OK(launched.get());
  EXPECT_OK(summary.get());
  fs::remove_all(room);
}

TEST_P(recovery_programs, a_failed_build_is_refused_with_the_same_reason_after_a_restart) {
  const device gpu = open();
  const jit::program p = jit::compile(gpu, {.source = "__global__ void saxpy() { nowhere_declared(); }"});
  const module::image image = module::load(gpu, std::vector<std::byte>(1000, std::byte{'x'}));
  const error compiling = error_of(p.ready()), loading = error_of(image.ready());
  EXPECT_EQ(compiling.reaction(), reaction::caller_bug);
  kill_and_wait(gpu);
  EXPECT_EQ(error_of(p.ready()).text(), compiling.text());
  EXPECT_EQ(error_of(image.ready()).text(), loading.text());
  EXPECT_TRUE(is_error(error_of(gpu.ask(jit::launch{.kernel = p.kernel("saxpy"), .grid = 1, .block = 1})),
                       reaction::caller_bug, {"jit.compile", "jit.launch"}));
}

// A new worker has the globals as they are loaded. A thread that has written them must not unknowingly compute with
// those.
TEST_P(recovery_programs, programs_with_written_globals_are_stale_after_a_restart) {
  for (const salvage how : {salvage::strict, salvage::untouched}) {
    const device gpu = open({.salvage = how});
    const auto table_of = [&gpu](const module::image& i) {
      const auto all = gpu.alloc<float>(16);
      gpu.tell(module::read_global{.global = i.global("table"), .target = all.as<std::byte>()});
      return gpu.download(all).get();
    };
    const module::image read = module::load(gpu, test_image()), written = module::load(gpu, test_image()),
                        counted = module::load(gpu, test_image());
    const auto nines = gpu.alloc<float>(16);
    ASSERT_OK(gpu.fill(nines, 9.0f).get());
    ASSERT_OK(table_of(read));
    ASSERT_OK(gpu.ask(module::write_global{.global = written.global("table"), .source = nines.as<std::byte>()}).get());
    ASSERT_OK(gpu.ask(module::launch{.kernel = counted.kernel("accumulate"),
                                     .grid = 1,
                                     .block = 16,
                                     .arguments = {nines},
                                     .writes_globals = true})
                  .get());
    EXPECT_EQ(table_of(written).value()[0], 9.0f);
    EXPECT_EQ(table_of(counted).value()[0], 19.0f);
    kill_and_wait(gpu);
    EXPECT_EQ(table_of(read).value()[0], 1.0f) << "as loaded";
    for (const module::image& i : {written, counted}) {
      EXPECT_TRUE(is_error(error_of(table_of(i)), reaction::context_lost, {"SIGKILL", "module.read_global"}));
      EXPECT_TRUE(is_error(error_of(gpu.ask(module::launch{.kernel = i.kernel("nothing"), .grid = 1, .block = 1})),
                           reaction::context_lost, {"SIGKILL", "module.launch"}));
      EXPECT_OK(i.unload().get());
    }
    const module::image again = module::load(gpu, test_image());
    EXPECT_EQ(table_of(again).value()[0], 1.0f);
  }
}

TEST_P(recovery_programs, an_unloaded_program_stays_unloaded_across_a_restart) {
  const device gpu = open();
  const module::image before = module::load(gpu, test_image()), after = module::load(gpu, test_image()),
                      stays = module::load(gpu, test_image());
  const auto launch = [](const module::image& i) {
    return module::launch{.kernel = i.kernel("nothing"), .grid = 1, .block = 1};
  };
  const module::launch late = launch(before);
  for (const module::image& i : {before, after, stays}) ASSERT_OK(gpu.ask(launch(i)).get());
  EXPECT_OK(before.unload().get());
  kill_and_wait(gpu);
  EXPECT_OK(gpu.ask(launch(after)).get());
  EXPECT_OK(after.unload().get());
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(is_error(error_of(gpu.ask(late)), reaction::caller_bug, {"unloaded"}));
    EXPECT_TRUE(is_error(error_of(gpu.ask(launch(after))), reaction::caller_bug, {"unloaded"}));
    EXPECT_TRUE(is_error(error_of(after.unload()), reaction::caller_bug, {"unloaded"}));
    EXPECT_OK(gpu.ask(launch(stays)).get());
    kill_and_wait(gpu);
  }
}

}  // namespace
}  // namespace troupe::whole
