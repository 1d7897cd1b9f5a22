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

/// The graphs that an engine has planned. Thread-safe.
class step_plans {
 public:
  /// `engine` is its name in errors: "the host engine".
  explicit step_plans(std::string_view engine) : engine_(engine) {}

  /// Returns the steps of a graph, and plans them with `make()`, a result<step_list>, if that was not done yet.
  template <class Make>
  result<std::shared_ptr<step_list>> find(std::string_view request, const seen_graph& g, std::uint64_t workspace,
                                          Make&& make) {
    if (g.empty()) return error(reaction::fatal, "dnn", cat(request, ": the graph is damaged"));
    const auto key = g.structure();
    auto all = TROUPE_TRY(plans_.get(
        {reinterpret_cast<const char*>(key.data()), key.size()},
        [&]() -> result<std::shared_ptr<step_list>> { return std::make_shared<step_list>(TROUPE_TRY(make())); }));
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
  plan::cache<step_list> plans_{{.most = 1024}};
};

}  // namespace troupe::dnn
