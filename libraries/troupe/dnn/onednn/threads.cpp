// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/onednn/threads.hpp>

#include <unistd.h>
#include <troupe/base/helper_places.hpp>
#include <troupe/dnn/onednn/functions.hpp>

namespace troupe::dnn::onednn {
namespace {

// OpenMP keeps helpers for each thread that calls it, as long as that uses the same number.
struct team {
  int threads = 0;
  std::vector<pid_t> helpers;
  helper_places places;
};
thread_local team here;

std::vector<pid_t> find_helpers(int threads) {
  std::vector<pid_t> all(static_cast<std::size_t>(threads));
  calls().run_in_parallel([](void* to) { static_cast<pid_t*>(to)[calls().number_of_thread()] = ::gettid(); },
                          all.data(), static_cast<unsigned>(threads), 0);
  all.erase(all.begin());
  // OpenMP gives fewer threads than wanted if its limit is lower.
  std::erase(all, 0);
  return all;
}

}  // namespace

threads::threads(int count) {
  calls().set_threads(count);
  // Where the environment says where threads are, that is right.
  if (calls().binding() != omp_is_free) return;
  // The helpers are others if another library in this process used another number.
  if (here.threads != count || !are_of_this_process(here.helpers)) here = {count, find_helpers(count), {}};
  here.places.place(here.helpers);
  if (here.places.are_placed()) caller_.emplace();
}

}  // namespace troupe::dnn::onednn
