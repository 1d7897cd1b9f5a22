// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/text/damaged.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/steps/graph_kind.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/plan/cache.hpp>

namespace troupe::dnn {

/// A cache of an engine's plans. `Plan` is step_list or derives from it. Thread-safe.
template <class Plan = step_list>
class plan_cache {
 public:
  /// `engine` names the engine in errors, for example "the host engine". Plans depend on which memory begins at a
  /// multiple of `alignment` bytes.
  explicit plan_cache(std::string_view engine, std::uint64_t alignment = 1) : engine_(engine), alignment_(alignment) {}

  /// Returns the plan of a computation; its key is what `write_key` writes. If there is no plan, calls
  /// `make(kind, nullptr)`, which returns a result<Plan>. If `is_outdated(plan)`, replaces the plan by
  /// `make(kind, &plan)`. Errors name the request `name`: the computation, or its preparation.
  template <class Make, class IsOutdated>
  result<std::shared_ptr<Plan>> find_or_make(const computation& r, std::string_view name, Make&& make,
                                             IsOutdated&& is_outdated) {
    if (r.graph.encoded().empty()) return damaged("dnn", cat(name, ": the graph"));
    thread_local std::string key;  // reused, so that requests do not allocate
    write_key(key, r, alignment_);
    const auto made = [&](const Plan* before) -> result<std::shared_ptr<Plan>> {
      return std::make_shared<Plan>(TROUPE_TRY(make(graph_kind(r, alignment_), before)));
    };
    auto plan = TROUPE_TRY(plans_.get(key, [&] { return made(nullptr); }));
    // Other threads use the old plan while this thread replaces it.
    if (std::unique_lock mine(renewing_, std::defer_lock); is_outdated(*plan) && mine.try_lock()) {
      plan = TROUPE_TRY(made(plan.get()));
      plans_.put(key, plan);
    }
    if (r.options.fusion == fusion::required && plan->steps.size() > 1)
      return error(reaction::unsupported, "dnn",
                   cat(name, ": fusion is required; ", engine_, " computes this graph in ", plan->steps.size(),
                       " steps: set fusion to allowed, or split the graph"));
    if (plan->bytes <= r.options.workspace) return plan;
    return error(reaction::unsupported, "dnn",
                 cat(name, ": workspace is ", r.options.workspace, " bytes; ", engine_, " needs ", plan->bytes,
                     " bytes for intermediate results: set workspace to at least that, or leave it out"));
  }
  /// Returns the plan of a computation, for plans that are never outdated. `make(kind)` returns a result<Plan>.
  template <class Make>
  result<std::shared_ptr<Plan>> find_or_make(const computation& r, std::string_view name, Make&& make) {
    return find_or_make(
        r, name, [&](const graph_kind& kind, const Plan*) { return make(kind); }, [](const Plan&) { return false; });
  }
  plan::statistics count() const { return plans_.count(); }
  /// Returns the statistics, and then resets the counters if `start_anew`.
  plan::statistics count(bool start_anew) { return start_anew ? plans_.count_anew() : plans_.count(); }

 private:
  const std::string engine_;
  const std::uint64_t alignment_;
  std::mutex renewing_;
  plan::cache<Plan> plans_{{.most = 1024}};
};

}  // namespace troupe::dnn
