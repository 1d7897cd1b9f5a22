// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/plan/cache.hpp>

namespace troupe::dnn {

/// The graphs that an engine has planned: a `Plan` is a step_list, or has one. Thread-safe.
template <class Plan = step_list>
class step_plans {
 public:
  /// `engine` is its name in errors: "the host engine".
  explicit step_plans(std::string_view engine) : engine_(engine) {}

  /// Returns the plan of a graph, and makes it with `make()`, a result<Plan>, if that was not done yet. It depends on
  /// the graph's structure, and on `more`.
  template <class Make>
  result<std::shared_ptr<Plan>> find(std::string_view request, const seen_graph& g, std::uint64_t workspace,
                                     Make&& make, std::string_view more = {}) {
    if (g.empty()) return error(reaction::fatal, "dnn", cat(request, ": the graph is damaged"));
    const auto structure = g.structure();
    std::string_view key(reinterpret_cast<const char*>(structure.data()), structure.size());
    std::string both;
    if (!more.empty()) key = both = cat(key, more);
    auto all = TROUPE_TRY(
        plans_.get(key, [&]() -> result<std::shared_ptr<Plan>> { return std::make_shared<Plan>(TROUPE_TRY(make())); }));
    if (all->bytes <= workspace) return all;
    return error(reaction::unsupported, "dnn",
                 cat(request, ": workspace is ", workspace, "; ", engine_, " needs ", all->bytes,
                     " bytes for what lies between the operations of this graph"));
  }
  plan::statistics count() const { return plans_.count(); }
  /// Returns the same, and counts from 0 from now on if `start_anew`.
  plan::statistics count(bool start_anew) { return start_anew ? plans_.count_anew() : plans_.count(); }

 private:
  const std::string engine_;
  plan::cache<Plan> plans_{{.most = 1024}};
};

}  // namespace troupe::dnn
