// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/onednn/threads.hpp>

#include <unistd.h>
#include <troupe/dnn/onednn/functions.hpp>

namespace troupe::dnn::onednn {
namespace {

// The helpers that OpenMP keeps for a calling thread while the caller uses the same number of threads.
struct team {
  int threads = 0;
  std::vector<pid_t> helpers;
  helper_places places;
};
thread_local team here;

std::vector<pid_t> find_helpers(int threads) {
  std::vector<pid_t> all(static_cast<std::size_t>(threads));
  calls().run_in_parallel([](void* to) { static_cast<pid_t*>(to)[calls().thread_number()] = ::gettid(); }, all.data(),
                          static_cast<unsigned>(threads), 0);
  all.erase(all.begin());
  // OpenMP starts fewer threads than requested if its limit is lower.
  std::erase(all, 0);
  return all;
}

}  // namespace

threads::threads(int count) {
  calls().set_threads(count);
  // Leave the affinity of threads alone if the environment sets it.
  if (calls().binding() != omp_unbound) return;
  // The helpers change if another library in this process has used another number of threads.
  if (here.threads != count || !are_of_this_process(here.helpers)) here = {count, find_helpers(count), {}};
  here.places.place(here.helpers);
  if (here.places.are_placed()) caller_.emplace();
}

}  // namespace troupe::dnn::onednn
