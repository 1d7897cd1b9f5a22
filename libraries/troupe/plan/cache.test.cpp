// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <troupe/base/text/cat.hpp>
#include <troupe/plan/cache.hpp>
#include <vector>

namespace troupe::plan {
namespace {

using plans = cache<std::string>;

result<std::shared_ptr<std::string>> made(const std::string& text) { return std::make_shared<std::string>(text); }
result<std::shared_ptr<std::string>> refused(reaction how) { return error(how, "test", "there is no such plan"); }

TEST(plan_cache, makes_a_plan_once) {
  plans p;
  int calls = 0;
  const auto make = [&] { return ++calls, made("a plan"); };
  const auto first = p.get("key", make), second = p.get("key", make);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(**first, "a plan");
  EXPECT_EQ(first->get(), second->get());
  EXPECT_EQ(calls, 1);
  const statistics s = p.count();
  EXPECT_EQ(s.plans, 1u);
  EXPECT_EQ(s.hits, 1u);
  EXPECT_EQ(s.misses, 1u);
  EXPECT_EQ(s.made, 1u);
}

TEST(plan_cache, keys_that_differ_in_one_byte_have_different_plans) {
  plans p;
  for (std::size_t n = 0; n < 40; ++n)
    for (const char last : {'a', 'b'}) {
      const std::string key = std::string(n, '\0') + last;
      EXPECT_EQ(**p.get(key, [&] { return made(cat(n, last)); }), cat(n, last));
    }
  EXPECT_EQ(p.count().made, 80u);
}

TEST(plan_cache, drops_the_least_recently_used_plan) {
  int synchronized = 0;
  plans p({.most = 2, .before_drop = [&] { ++synchronized; }});
  const auto get = [&](const char* key) { return p.get(key, [&] { return made(key); }); };
  const auto a = *get("a");
  (void)get("b"), (void)get("a"), (void)get("c");
  EXPECT_EQ(synchronized, 1);
  const statistics before = p.count();
  EXPECT_EQ(before.dropped, 1u);
  EXPECT_EQ(before.plans, 2u);
  (void)get("a");
  EXPECT_EQ(p.count().hits, before.hits + 1) << "b was dropped, not a";
  (void)get("b");
  EXPECT_EQ(p.count().misses, before.misses + 1);
  EXPECT_EQ(*a, "a") << "a dropped plan lives while a caller has it";
}

TEST(plan_cache, remembers_failures_that_would_occur_again) {
  plans p({.most_failures = 2});
  int calls = 0;
  const auto fails = [&](const char* key, reaction how) {
    const auto got = p.get(key, [&] { return ++calls, refused(how); });
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().text(), "there is no such plan");
  };
  fails("a", reaction::unsupported);
  fails("a", reaction::unsupported);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(p.count().remembered_failures, 1u);
  EXPECT_EQ(p.count().plans, 0u);
  fails("b", reaction::caller_bug);
  fails("c", reaction::unsupported);
  fails("a", reaction::unsupported);
  EXPECT_EQ(calls, 4) << "only two are remembered";
}

TEST(plan_cache, tries_again_after_an_exception_and_after_a_failure_that_may_pass) {
  plans p;
  for (const reaction how : {reaction::retry_later, reaction::context_lost, reaction::fatal})
    EXPECT_FALSE(p.get("key", [&] { return refused(how); }));
  EXPECT_TRUE(p.get("key", [] { return made("now"); }));
  EXPECT_THROW((void)p.get("other", []() -> result<std::shared_ptr<std::string>> { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_TRUE(p.get("other", [] { return made("now"); }));
}

TEST(plan_cache, drop_if_drops_the_plans_with_matching_keys) {
  int synchronized = 0;
  plans p({.before_drop = [&] { ++synchronized; }});
  for (const char* key : {"x1", "y1", "x2"}) (void)p.get(key, [&] { return made(key); });
  p.drop_if([](std::string_view key) { return key.starts_with('x'); });
  EXPECT_EQ(p.count().plans, 1u);
  EXPECT_EQ(synchronized, 1);
  p.drop_if([](std::string_view) { return false; });
  EXPECT_EQ(synchronized, 1) << "nothing was dropped";
}

TEST(plan_cache, keeps_a_plan_that_is_put_while_another_is_made) {
  plans p;
  const auto got = p.get("key", [&] {
    p.put("key", std::make_shared<std::string>("put"));
    return made("made");
  });
  EXPECT_EQ(**got, "put");
  EXPECT_EQ(**p.get("key", [] { return made("again"); }), "put");
  const auto failed = p.get("other", [&] {
    p.put("other", std::make_shared<std::string>("put"));
    return refused(reaction::unsupported);
  });
  EXPECT_FALSE(failed);
  EXPECT_EQ(**p.get("other", [] { return made("again"); }), "put");
  EXPECT_THROW((void)p.get("third",
                           [&]() -> result<std::shared_ptr<std::string>> {
                             p.put("third", std::make_shared<std::string>("put"));
                             throw std::runtime_error("once");
                           }),
               std::runtime_error);
  EXPECT_EQ(**p.get("third", [] { return made("again"); }), "put");
}

TEST(plan_cache, drops_a_plan_only_if_it_has_not_been_replaced) {
  plans p;
  const auto first = *p.get("key", [] { return made("first"); });
  p.put("key", std::make_shared<std::string>("second"));
  p.drop("key", first);
  p.drop("absent", first);
  p.drop("key", nullptr);
  const auto second = *p.get("key", [] { return made("again"); });
  EXPECT_EQ(*second, "second");
  p.drop("key", second);
  EXPECT_FALSE(p.has("key"));
}

TEST(plan_cache, makes_a_plan_once_for_many_threads) {
  constexpr int threads = 8, keys = 40;
  plans p({.most = 1000});
  std::atomic<int> calls{0}, wrong{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&] {
      while (!go.load()) std::this_thread::yield();
      for (int k = 0; k < keys; ++k) {
        // The first attempt fails for every fifth key, and throws for every seventh.
        static std::atomic<int> tried[keys];
        const auto make = [&]() -> result<std::shared_ptr<std::string>> {
          ++calls;
          const int before = tried[k].fetch_add(1);
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          if (k % 5 == 0 && before == 0) return refused(reaction::retry_later);
          if (k % 7 == 1 && before == 0) throw std::runtime_error("once");
          return made(cat(k));
        };
        for (bool done = false; !done;) {
          try {
            const auto got = p.get(cat("key ", k), make);
            done = bool(got);
            if (got && **got != cat(k)) ++wrong;
          } catch (const std::runtime_error&) {
          }
        }
      }
    });
  go.store(true);
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(calls.load(), keys + 8 + 6 - 1) << "one key is in both lists";
  EXPECT_EQ(p.count().plans, static_cast<std::uint64_t>(keys));
}

TEST(plan_cache, returns_the_plan_of_the_key_while_threads_find_drop_and_fail_at_random) {
  plans p({.most = 5, .most_failures = 3});
  std::atomic<int> wrong{0};
  std::vector<std::thread> all;
  for (unsigned t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      std::uint64_t x = t + 1;
      for (int i = 0; i < 5000; ++i) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const auto k = static_cast<unsigned>(x >> 60);
        const auto got =
            p.get(cat("key ", k), [&] { return k % 3 == 0 ? refused(reaction::unsupported) : made(cat(k)); });
        if (bool(got) == (k % 3 == 0) || (got && **got != cat(k))) ++wrong;
        if ((x >> 40) % 50 == 0) p.drop_if([k](std::string_view key) { return key == cat("key ", k); });
      }
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(wrong.load(), 0);
  const statistics s = p.count();
  EXPECT_EQ(s.hits + s.misses + s.remembered_failures, 20000u);
  EXPECT_LE(s.plans, 5u);
}

}  // namespace
}  // namespace troupe::plan
