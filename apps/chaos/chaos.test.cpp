// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that the checks of chaos detect what they must detect.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <apps/chaos/show.hpp>

#include <fstream>
#include <troupe/async/promise.hpp>

namespace chaos {
namespace {

using namespace troupe;

answer_counts counts_of(result<int> answer, bool may_stop = false) {
  answers a(std::chrono::seconds(0), may_stop);
  auto p = a.watch(make_ready<int>(std::move(answer)));
  a.check(p, [](int is) { return is == 1 ? std::string() : "not 1"; });
  return a.counts();
}

TEST(answers, are_counted_as_right_failed_wrong_or_unexpected) {
  EXPECT_EQ(counts_of(1).right, 1u);
  EXPECT_EQ(counts_of(2).wrong, 1u);
  EXPECT_EQ(counts_of(error(reaction::context_lost, "test", "a fault")).failed, 1u);
  EXPECT_EQ(counts_of(error(reaction::retry_later, "worker", "ask again")).failed, 1u);
  EXPECT_EQ(counts_of(error(reaction::retry_later, "memory", "used up")).unexpected, 1u);
  EXPECT_EQ(counts_of(error(reaction::caller_bug, "test", "no fault")).unexpected, 1u);
  EXPECT_EQ(counts_of(error(reaction::stopped, "test", "stopped")).unexpected, 1u);
  EXPECT_EQ(counts_of(error(reaction::stopped, "test", "stopped"), true).failed, 1u);
  EXPECT_EQ(counts_of(error(reaction::fatal, "test", "no program")).unexpected, 1u);
  EXPECT_EQ(counts_of(error(reaction::fatal, "test", "no program"), true).failed, 1u);
  EXPECT_EQ(counts_of(1).asked, 1u);
}

TEST(answers, count_as_lost_when_they_never_arrive) {
  answers a(std::chrono::seconds(0));
  promise<int> to;
  auto watched = a.watch(to.get_pending());
  a.check(watched, [](int) { return std::string(); });
  EXPECT_EQ(a.counts().lost, 1u);
  EXPECT_FALSE(a.counts().good());
  EXPECT_EQ(a.first_complaint(), "no answer");
  EXPECT_TRUE(to.set(1));
}

TEST(answers, accept_only_errors_that_a_fault_explains) {
  EXPECT_TRUE((answer_counts{.asked = 2, .right = 1, .failed = 1}.good()));
  EXPECT_FALSE((answer_counts{.wrong = 1}.good()));
  EXPECT_FALSE((answer_counts{.unexpected = 1}.good()));
  EXPECT_FALSE((answer_counts{.twice = 1}.good()));
  EXPECT_FALSE((answer_counts{.lost = 1}.good()));
}

TEST(leaks, counts_processes_threads_and_descriptors) {
  std::thread([] {}).join();  // starts the thread sanitizer's own thread, as run() does
  const resources before = resources::now();
  EXPECT_EQ(resources::now().beyond(before), "");
  const int fd = ::open("/dev/null", O_RDONLY);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  std::atomic<bool> over{false};
  std::thread thread([&] { over.wait(false); });
  // A child that has ended counts until it is reaped.
  EXPECT_EQ(resources::now().beyond(before), "1 process, 1 thread, 1 descriptor");
  over.store(true);
  over.notify_all();
  thread.join();
  ::waitpid(child, nullptr, 0);
  ::close(fd);
  EXPECT_EQ(resources::left_beyond(before), "");
}

TEST(leaks, names_temporary_files) {
  std::string path;
  {
    const private_folder folder;
    path = folder.path();
    EXPECT_TRUE(folder.temporary_files().empty());
    std::ofstream(std::string(std::getenv("TMPDIR")) + "/left") << "something";
    EXPECT_EQ(folder.temporary_files(), std::vector<std::string>{"left"});
  }
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

report some_report() {
  report r{.seconds = 2,
           .seed = 7,
           .device = "cuda:1",
           .libraries = "memory",
           .answered = {.asked = 3, .right = 2, .failed = 1}};
  kind_report& k = r.by_kind[static_cast<std::size_t>(faults::kind::abort)];
  k.injected = 4;
  k.missed = 1;
  k.recoveries_s = {0.001, 0.002, 0.003, 0.004};
  return r;
}

TEST(chaos_report, is_good_only_if_each_of_its_checks_passed) {
  EXPECT_TRUE(some_report().good());
  report r = some_report();
  r.leaks = "1 process";
  EXPECT_FALSE(r.good());
  r = some_report();
  r.answered.wrong = 1;
  EXPECT_FALSE(r.good());
  r = some_report();
  r.close = "the device never closed";
  EXPECT_FALSE(r.good());
  r = some_report();
  r.answered.right = 0;
  EXPECT_FALSE(r.good()) << "no answer was checked";
  r = some_report();
  r.is_training = true;
  EXPECT_FALSE(r.good()) << "no training was completed";
  r.trained.trainings = 1;
  EXPECT_TRUE(r.good());
  r.is_refitting = true;
  r.refitted = {.refits = 1, .products = 1};
  EXPECT_FALSE(r.good()) << "no plan was measured";
  r.refitted.plans = 1;
  EXPECT_TRUE(r.good());
}

TEST(chaos_report, sums_up_recoveries_by_kind) {
  const kind_report all = some_report().all();
  EXPECT_EQ(all.injected, 4u);
  EXPECT_EQ(all.recovery_s(0.5), 0.003);
  EXPECT_EQ(all.recovery_s(1), 0.004);
  EXPECT_EQ(kind_report().recovery_s(0.5), 0);
}

TEST(chaos_report, lists_every_figure) {
  report r = some_report();
  r.complaint = "a copy: element 3";
  r.leaks = "1 process";
  const std::string text = table(r, apps::terminal()), document = json(r);
  for (const char* word : {"abort", "memory on cuda:1;", "4.00 ms", "a copy: element 3", "1 process", "context_lost"})
    EXPECT_NE(text.find(word), std::string::npos) << word << " in\n" << text;
  EXPECT_EQ(text.find("kill_all"), std::string::npos) << "it was not injected";
  for (const char* word : {"\"ok\": false", "\"seed\": 7", "\"device\": \"cuda:1\"", "\"kind\": \"abort\"",
                           "\"wrong\": 0", "a copy: element 3"})
    EXPECT_NE(document.find(word), std::string::npos) << word << " in\n" << document;
}

}  // namespace
}  // namespace chaos
