// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/cuda_on_host/translate/internal/waiting_names.hpp>

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace troupe::cuda_on_host {

namespace {

constexpr std::string_view of_blocks_and_warps[] = {
    "__syncthreads",     "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",  "__syncwarp",
    "__shfl_sync",       "__shfl_up_sync",      "__shfl_down_sync",  "__shfl_xor_sync",   "__ballot_sync",
    "__any_sync",        "__all_sync",          "__activemask",      "__match_any_sync",  "__match_all_sync",
    "__reduce_add_sync", "__reduce_min_sync",   "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync",
    "__reduce_xor_sync"};

// Members and functions of cooperative groups that wait for other threads, some of them in order to form a group.
constexpr std::string_view of_groups[] = {"sync",
                                          "barrier_arrive",
                                          "barrier_wait",
                                          "shfl",
                                          "shfl_up",
                                          "shfl_down",
                                          "shfl_xor",
                                          "any",
                                          "all",
                                          "ballot",
                                          "match_any",
                                          "match_all",
                                          "reduce",
                                          "inclusive_scan",
                                          "exclusive_scan",
                                          "coalesced_threads",
                                          "labeled_partition",
                                          "binary_partition",
                                          "invoke_one",
                                          "invoke_one_broadcast",
                                          "memcpy_async",
                                          "wait",
                                          "wait_prior",
                                          "this_thread_block",
                                          "tiled_partition"};

bool among(const auto& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

bool waits_for_others(std::string_view name) noexcept {
  return name.starts_with("__") && among(of_blocks_and_warps, name);
}

bool waiting_names::contains(std::string_view name) const noexcept {
  return waits_for_others(name) || functions.contains(name) || (cooperative_groups && among(of_groups, name));
}

waiting_names find_waiting_names(const token_list& source, const unit& u, const translate_options& options,
                                 const std::function<bool(const definition&)>& also) {
  waiting_names out;
  for (const token& t : source.tokens)
    if (t.is_identifier() && t.text == "cooperative_groups") out.cooperative_groups = true;

  // For each defined name, the definitions that mention it; and the definitions that wait themselves.
  std::unordered_map<std::string_view, std::vector<std::size_t>> mentions;
  for (const definition& d : u.definitions)
    if (!d.name.empty()) mentions[d.name];
  std::vector<std::size_t> found;
  std::vector<bool> waits(u.definitions.size(), false);
  for (std::size_t n = 0; n < u.definitions.size(); ++n) {
    const definition& d = u.definitions[n];
    if (also(d)) {
      waits[n] = true;
      found.push_back(n);
    }
    for (std::size_t i = d.is_function() ? d.parameters : d.body; i < d.end; ++i) {
      const token& t = source[i];
      if (!t.is_identifier()) continue;
      if (!waits[n] && out.contains(t.text)) {
        waits[n] = true;
        found.push_back(n);
      }
      if (const auto m = mentions.find(t.text); m != mentions.end() && (m->second.empty() || m->second.back() != n))
        m->second.push_back(n);
    }
  }
  while (!found.empty()) {
    const definition& d = u.definitions[found.back()];
    found.pop_back();
    if (d.is_kernel) continue;
    if (d.name.empty()) {
      out.callers_unknown = true;
      out.reason =
          cat("line ", source[d.begin].line, ": an operator, constructor or destructor waits for other threads");
      continue;
    }
    if (!out.functions.insert(d.name).second) continue;
    for (const std::size_t n : mentions[d.name])
      if (!waits[n]) {
        waits[n] = true;
        found.push_back(n);
      }
  }
  for (const std::string& k : options.kernels)
    for (const token& t : tokenize(k).tokens)
      if (t.is_identifier() && out.functions.contains(t.text)) {
        out.callers_unknown = true;
        out.reason = "the name expression " + k + " passes a function that waits for other threads";
      }
  return out;
}

}  // namespace troupe::cuda_on_host
