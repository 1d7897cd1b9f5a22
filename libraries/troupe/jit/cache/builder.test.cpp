// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/jit/cache/builder.hpp>
#include <troupe/jit/host/command.hpp>

namespace troupe::jit {
namespace {

using kernel::image_source;

// A builder whose compiler is a function of the test.
class jit_builder : public testing::Test {
 protected:
  builder make_builder(plan::disk_cache* disk = nullptr, std::uint64_t memory_bytes = 1 << 20) {
    return builder({.find = [this](const recipe&, plan::disk_cache*) -> result<compiler> {
                      if (missing_) return error(reaction::unsupported, "jit", "no compiler");
                      return compiler{"c++", version_};
                    },
                    .compile =
                        [this](const recipe& r, const compiler& c, const compile_deadline& deadline) {
                          ++compiles_;
                          return compile_(r, c, deadline);
                        },
                    .engine = engine_,
                    .disk = disk,
                    .memory_bytes = memory_bytes});
  }
  build make(builder& b, const recipe& r, std::function<bool()> cancelled = {}) {
    const std::string bytes = encode(r);
    return b.make(*decode(bytes), std::move(cancelled));
  }

  std::atomic<int> compiles_{0};
  bool missing_ = false;
  std::string version_ = "1", engine_;
  builder::compile_function compile_ = [](const recipe& r, const compiler& c, const compile_deadline&) {
    return compiled{.failed = {}, .image = r.source + c.identity, .log = "warning\n", .made_from = {}, .lasting = true};
  };
};

TEST_F(jit_builder, compiles_once_and_reuses_the_image) {
  auto b = make_builder();
  const build first = make(b, {.source = "a"}), second = make(b, {.source = "a"});
  EXPECT_EQ(*first.image, "a1");
  EXPECT_EQ(first.source, image_source::compiled);
  EXPECT_EQ(*second.image, "a1");
  EXPECT_EQ(second.source, image_source::memory);
  EXPECT_EQ(second.log, "warning\n");
  EXPECT_EQ(compiles_, 1);
}

TEST_F(jit_builder, distinguishes_recipes_by_every_field_that_affects_the_image) {
  auto b = make_builder();
  const recipe base{.source = "a"};
  std::vector<recipe> others(15, base);
  others[0].source = "b";
  others[1].name = "b.cu";
  others[2].kernels = {"k"};
  others[3].globals = {"k"};
  others[4].headers = {{"h", "t"}};
  others[5].headers = {{"h", "u"}};
  others[6].include_paths = {"/p"};
  others[7].definitions = {{"N", "1"}};
  others[8].standard = 17;
  others[9].fast_math = true;
  others[10].flush_to_zero = true;
  others[11].fuse_multiply_add = false;
  others[12].optimisation = 1;
  others[13].debug_information = true;
  others[14].options = {"-Wall"};
  EXPECT_EQ(make(b, base).source, image_source::compiled);
  for (std::size_t i = 0; i < others.size(); ++i)
    EXPECT_EQ(make(b, others[i]).source, image_source::compiled) << "field " << i;
  version_ = "2";
  EXPECT_EQ(make(b, base).source, image_source::compiled);
}

TEST_F(jit_builder, ignores_timeouts_and_log_limits_when_comparing_recipes) {
  auto b = make_builder();
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::compiled);
  EXPECT_EQ(make(b, {.source = "a", .timeout = time_span::of_seconds(1), .log_bytes = 1000}).source,
            image_source::memory);
}

TEST_F(jit_builder, compiles_again_if_a_file_that_the_compiler_read_has_changed) {
  plan::private_folder folder = plan::private_folder::make().value();
  const std::string header = folder.path() + "/h";
  std::ofstream(header) << "one";
  compile_ = [&](const recipe&, const compiler&, const compile_deadline&) {
    return compiled{.failed = {}, .image = "i", .log = {}, .made_from = {*plan::stamp_of(header)}, .lasting = true};
  };
  plan::disk_cache disk(folder.path() + "/cache");
  auto b = make_builder(&disk);
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::compiled);
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::memory);
  std::ofstream(header) << "another";
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::compiled);
}

TEST_F(jit_builder, does_not_cache_images_that_may_differ_next_time) {
  compile_ = [](const recipe&, const compiler&, const compile_deadline&) {
    return compiled{.failed = {}, .image = "i", .log = {}, .made_from = {}, .lasting = false};
  };
  auto b = make_builder();
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::compiled);
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::compiled);
}

TEST_F(jit_builder, finds_images_and_messages_of_other_builders_on_disk) {
  plan::private_folder folder = plan::private_folder::make().value();
  plan::disk_cache disk(folder.path() + "/cache");
  auto one = make_builder(&disk), other = make_builder(&disk);
  EXPECT_EQ(make(one, {.source = "a"}).source, image_source::compiled);
  const build found = make(other, {.source = "a"});
  EXPECT_EQ(found.source, image_source::disk);
  EXPECT_EQ(*found.image, "a1");
  EXPECT_EQ(found.log, "warning\n");
  EXPECT_EQ(make(other, {.source = "a"}).source, image_source::memory);
  engine_ = "another build of the engine";
  auto newer = make_builder(&disk);
  EXPECT_EQ(make(newer, {.source = "a"}).source, image_source::compiled);
}

TEST_F(jit_builder, uses_only_the_caches_that_the_recipe_allows) {
  plan::private_folder folder = plan::private_folder::make().value();
  plan::disk_cache disk(folder.path() + "/cache");
  auto b = make_builder(&disk);
  EXPECT_EQ(make(b, {.source = "a", .cache = cache_use::none}).source, image_source::compiled);
  EXPECT_EQ(make(b, {.source = "a", .cache = cache_use::none}).source, image_source::compiled);
  EXPECT_EQ(make(b, {.source = "a", .cache = cache_use::memory}).source, image_source::compiled);
  EXPECT_EQ(make(b, {.source = "a", .cache = cache_use::memory}).source, image_source::memory);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/cache"));
}

TEST_F(jit_builder, compiles_without_an_unusable_cache_and_reports_it_once) {
  plan::private_folder folder = plan::private_folder::make().value();
  std::ofstream(folder.path() + "/file") << "";
  plan::disk_cache disk(folder.path() + "/file/cache");
  auto b = make_builder(&disk);
  const build made = make(b, {.source = "a"});
  EXPECT_FALSE(made.failed);
  EXPECT_EQ(*made.image, "a1");
  EXPECT_EQ(made.log.find("note: cache: cannot make the folder"), std::string("warning\n").size()) << made.log;
  EXPECT_EQ(made.log.find("note: cache:"), made.log.rfind("note: cache:")) << made.log;
}

TEST_F(jit_builder, compiles_once_for_concurrent_requests) {
  constexpr int threads = 8;
  std::atomic<int> asking{0};
  compile_ = [&](const recipe& r, const compiler&, const compile_deadline&) {
    while (asking.load() < threads) std::this_thread::yield();
    return compiled{.failed = {}, .image = r.source, .log = {}, .made_from = {}, .lasting = true};
  };
  auto b = make_builder();
  std::atomic<int> compiled_ones{0}, right{0};
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      ++asking;
      const build made = make(b, {.source = "a"});
      if (made.source == image_source::compiled) ++compiled_ones;
      if (made.image && *made.image == "a") ++right;
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(compiles_, 1);
  EXPECT_EQ(compiled_ones, 1);
  EXPECT_EQ(right, threads);
}

TEST_F(jit_builder, compiles_again_after_a_failure) {
  compile_ = [&](const recipe&, const compiler&, const compile_deadline&) {
    return compiled{.failed = error(reaction::caller_bug, "jit", "wrong"), .log = "wrong\n", .made_from = {}};
  };
  auto b = make_builder();
  for (int i = 1; i <= 2; ++i) {
    const build made = make(b, {.source = "a"});
    ASSERT_TRUE(made.failed);
    EXPECT_EQ(made.failed->text(), "wrong");
    EXPECT_EQ(made.log, "wrong\n");
    EXPECT_EQ(compiles_, i);
  }
}

TEST_F(jit_builder, compiles_again_for_a_waiter_whose_timeout_is_longer_than_the_first) {
  std::atomic<bool> first_runs{false}, second_waits{false};
  compile_ = [&](const recipe& r, const compiler&, const compile_deadline&) {
    if (r.timeout == time_span::of_seconds(1)) {
      first_runs = true;
      while (!second_waits) std::this_thread::yield();
      return compiled{.failed = error(reaction::caller_bug, "jit", "time"), .was_stopped = true, .made_from = {}};
    }
    return compiled{.failed = {}, .image = "i", .log = {}, .made_from = {}, .lasting = true};
  };
  auto b = make_builder();
  std::thread hasty([&] { EXPECT_TRUE(make(b, {.source = "a", .timeout = time_span::of_seconds(1)}).failed); });
  while (!first_runs) std::this_thread::yield();
  std::thread patient([&] {
    second_waits = true;  // may be set after the first request has ended; the second request then compiles at once
    EXPECT_FALSE(make(b, {.source = "a"}).failed);
  });
  hasty.join();
  patient.join();
  EXPECT_EQ(compiles_, 2);
}

TEST_F(jit_builder, does_not_start_a_cancelled_compile) {
  auto b = make_builder();
  const build made = make(b, {.source = "a"}, [] { return true; });
  ASSERT_TRUE(made.failed);
  EXPECT_EQ(made.failed->reaction(), reaction::retry_later);
  EXPECT_EQ(made.failed->text(), "jit.compile: program.cu: compiling was cancelled");
  EXPECT_EQ(compiles_, 0);
}

TEST_F(jit_builder, compiles_for_waiters_if_the_first_request_is_cancelled) {
  std::atomic<bool> first_runs{false}, second_waits{false};
  compile_ = [&](const recipe& r, const compiler&, const compile_deadline& how_long) {
    if (first_runs.exchange(true))
      return compiled{.failed = {}, .image = "i", .log = {}, .made_from = {}, .lasting = true};
    while (!how_long.cancelled()) std::this_thread::yield();
    return compiled{.failed = was_cancelled(r), .was_stopped = true, .made_from = {}};
  };
  auto b = make_builder();
  std::thread first([&] { EXPECT_TRUE(make(b, {.source = "a"}, [&] { return second_waits.load(); }).failed); });
  while (!first_runs) std::this_thread::yield();
  std::thread second([&] {
    second_waits = true;  // may be set after the first request has ended; the second request then compiles at once
    EXPECT_FALSE(make(b, {.source = "a"}).failed);
  });
  first.join();
  second.join();
  EXPECT_EQ(compiles_, 2);
}

TEST_F(jit_builder, a_request_that_waits_for_an_equal_compile_can_be_cancelled) {
  std::atomic<bool> first_runs{false}, let_go{false};
  compile_ = [&](const recipe&, const compiler&, const compile_deadline&) {
    first_runs = true;
    while (!let_go) std::this_thread::yield();
    return compiled{.failed = {}, .image = "i", .log = {}, .made_from = {}, .lasting = true};
  };
  auto b = make_builder();
  std::thread first([&] { EXPECT_FALSE(make(b, {.source = "a"}).failed); });
  while (!first_runs) std::this_thread::yield();
  std::atomic<int> asked{0};
  const build second = make(b, {.source = "a"}, [&] { return ++asked > 3; });
  ASSERT_TRUE(second.failed);
  EXPECT_EQ(second.failed->text(), "jit.compile: program.cu: compiling was cancelled");
  let_go = true;
  first.join();
}

TEST_F(jit_builder, does_not_cache_remarks_about_a_single_run) {
  compile_ = [](const recipe&, const compiler&, const compile_deadline&) {
    return compiled{
        .failed = {}, .image = "i", .log = "warning\n", .remarks = "once\n", .made_from = {}, .lasting = true};
  };
  auto b = make_builder();
  EXPECT_EQ(make(b, {.source = "a"}).log, "warning\nonce\n");
  EXPECT_EQ(make(b, {.source = "a"}).log, "warning\n");
}

TEST_F(jit_builder, releases_waiters_and_serves_later_requests_if_the_compiler_throws) {
  std::atomic<bool> first_runs{false}, second_waits{false};
  compile_ = [&](const recipe& r, const compiler&, const compile_deadline&) {
    if (first_runs.exchange(true))
      return compiled{.failed = {}, .image = r.source, .log = {}, .made_from = {}, .lasting = true};
    while (!second_waits) std::this_thread::yield();
    throw std::bad_alloc();
  };
  auto b = make_builder();
  const recipe r{.source = "a", .timeout = time_span::of_seconds(30)};
  std::thread first([&] { EXPECT_THROW((void)make(b, r), std::bad_alloc); });
  while (!first_runs) std::this_thread::yield();
  std::thread second([&] {
    second_waits = true;  // may be set after the first request has ended; the second request then compiles
    const build made = make(b, r);
    if (made.failed) {
      EXPECT_EQ(made.failed->reaction(), reaction::retry_later);
      EXPECT_NE(made.failed->text().find("ended with an exception"), std::string::npos) << made.failed->text();
    }
  });
  first.join();
  second.join();
  EXPECT_EQ(*make(b, r).image, "a");
}

TEST_F(jit_builder, waits_for_an_equal_compile_no_longer_than_its_own_timeout) {
  std::atomic<bool> first_runs{false}, go_on{false};
  compile_ = [&](const recipe& r, const compiler&, const compile_deadline&) {
    first_runs = true;
    while (!go_on) std::this_thread::yield();
    return compiled{.failed = {}, .image = r.source, .log = {}, .made_from = {}, .lasting = true};
  };
  auto b = make_builder();
  std::thread patient([&] { EXPECT_FALSE(make(b, {.source = "a"}).failed); });
  while (!first_runs) std::this_thread::yield();
  const build made = make(b, {.source = "a", .timeout = std::chrono::milliseconds(20)});
  go_on = true;
  patient.join();
  ASSERT_TRUE(made.failed);
  EXPECT_EQ(made.failed->text(),
            "jit.compile: program.cu: an equal program was still being compiled after 20 ms; raise the recipe's "
            "timeout, or make the program "
            "smaller");
}

TEST_F(jit_builder, evicts_the_least_recently_used_images) {
  compile_ = [&](const recipe&, const compiler&, const compile_deadline&) {
    return compiled{.failed = {}, .image = std::string(400'000, 'i'), .log = {}, .made_from = {}, .lasting = true};
  };
  auto b = make_builder(nullptr, 1'000'000);
  (void)make(b, {.source = "a"});
  (void)make(b, {.source = "b"});
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::memory);
  (void)make(b, {.source = "c"});
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::memory);
  EXPECT_EQ(make(b, {.source = "b"}).source, image_source::compiled);
}

TEST_F(jit_builder, counts_keys_and_logs_towards_its_memory_limit) {
  const auto with = [](std::string log) {
    return [log](const recipe&, const compiler&, const compile_deadline&) {
      return compiled{.failed = {}, .image = "i", .log = log, .made_from = {}, .lasting = true};
    };
  };
  auto b = make_builder(nullptr, 1'000'000);
  compile_ = with("");
  const recipe large{.source = std::string(600'000, 's')};
  (void)make(b, large);
  EXPECT_EQ(make(b, large).source, image_source::memory);
  compile_ = with(std::string(600'000, 'l'));
  (void)make(b, {.source = "a"});
  EXPECT_EQ(make(b, {.source = "a"}).source, image_source::memory);
  EXPECT_EQ(make(b, large).source, image_source::compiled);
}

TEST_F(jit_builder, reports_why_no_compiler_was_found_for_a_recipe) {
  auto b = make_builder();
  missing_ = true;
  build made = make(b, {.source = "a"});
  ASSERT_TRUE(made.failed);
  EXPECT_EQ(made.failed->text(), "no compiler");
  EXPECT_EQ(compiles_, 0);
}

}  // namespace
}  // namespace troupe::jit
