// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/requests/computation.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/plan/cache.hpp>

namespace troupe::dnn {

/// A cache of an engine's plans, by graph. A `Plan` is a step_list or derives from it. Thread-safe.
template <class Plan = step_list>
class step_plans {
 public:
  /// `engine` is the name of the engine in errors: "the host engine".
  explicit step_plans(std::string_view engine) : engine_(engine) {}

  /// Returns the plan of a graph, by the key of the graph's structure and `more`. If there is none yet, calls
  /// `make(nullptr)`, which returns a result<Plan>. If `is_outdated(plan)`, replaces the plan by `make(&plan)`.
  template <class Make, class IsOutdated>
  result<std::shared_ptr<Plan>> find(const computation& r, Make&& make, std::string_view more,
                                     IsOutdated&& is_outdated) {
    const encoded_graph& g = r.graph.encoded();
    if (g.empty()) return error(reaction::fatal, "dnn", cat("dnn.computation: the graph is damaged"));
    const auto structure = g.structure();
    std::string_view key(reinterpret_cast<const char*>(structure.data()), structure.size());
    thread_local std::string both;  // reused, so that requests do not allocate
    if (!more.empty()) key = both.assign(key).append(more);
    auto all = TROUPE_TRY(plans_.get(key, [&]() -> result<std::shared_ptr<Plan>> {
      return std::make_shared<Plan>(TROUPE_TRY(make(static_cast<const Plan*>(nullptr))));
    }));
    // Other threads use the old plan while this one replaces it.
    if (std::unique_lock mine(renewing_, std::defer_lock); is_outdated(*all) && mine.try_lock()) {
      all = std::make_shared<Plan>(TROUPE_TRY(make(static_cast<const Plan*>(all.get()))));
      plans_.put(key, all);
    }
    if (r.options.fusion == fusion::required && all->steps.size() > 1)
      return error(reaction::unsupported, "dnn",
                   cat("dnn.computation: fusion is required; ", engine_, " computes this graph in ", all->steps.size(),
                       " steps: set fusion to allowed, or split the graph"));
    if (all->bytes <= r.options.workspace) return all;
    return error(reaction::unsupported, "dnn",
                 cat("dnn.computation: workspace is ", r.options.workspace, " bytes; ", engine_, " needs ", all->bytes,
                     " bytes for intermediate results: set workspace to at least that, or leave it out"));
  }
  /// Returns the plan of a graph, for plans that are never outdated. `make()` returns a result<Plan>.
  template <class Make>
  result<std::shared_ptr<Plan>> find(const computation& r, Make&& make, std::string_view more = {}) {
    return find(r, [&](const Plan*) { return make(); }, more, [](const Plan&) { return false; });
  }
  plan::statistics count() const { return plans_.count(); }
  /// Returns the statistics, and then resets the counters if `start_anew`.
  plan::statistics count(bool start_anew) { return start_anew ? plans_.count_anew() : plans_.count(); }

 private:
  const std::string engine_;
  std::mutex renewing_;
  plan::cache<Plan> plans_{{.most = 1024}};
};

}  // namespace troupe::dnn
