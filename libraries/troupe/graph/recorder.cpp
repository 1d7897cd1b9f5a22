// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/graph/internal/core.hpp>
#include <troupe/graph/recorder.hpp>
#include <utility>

namespace troupe::graph {

struct recorder::recording {
  device gpu;
  options how;
  std::uint64_t id = next_graph_id();
  std::uint32_t next = 0;  // number of the next node
  tree_body all;
  std::optional<error> wrong;  // the first error
  bool finished = false;
  const recorder* records;  // the recorder in use: that of the body being recorded, or of the whole graph

  node refuse(const error& why) {
    if (!wrong && !finished) wrong = why;
    return node(why);
  }
  // Refuses a node, which gets no number.
  node refuse_node(const error& why, const std::string& label) {
    error::details d = why.all();
    d.text += cat(" (node ", next, label.empty() ? "" : " \"" + label + "\"", " of graph \"", how.name, "\")");
    return refuse(error(std::move(d)));
  }
};

/// Restores the recorder in use after a body was recorded, even if the function that records it throws.
struct recorder::turn {
  recording& of;
  const recorder* before;
  ~turn() { of.records = before; }
};

recorder::recorder(const device& gpu, options o)
    : all_(new recording{.gpu = gpu, .how = std::move(o), .all = {}, .wrong = {}, .records = this}), body_(&all_->all) {
  if (all_->how.branches == 0) (void)all_->refuse(detail::refusal("graph", "branches is 0; expected at least 1"));
}
recorder::~recorder() = default;

const device& recorder::gpu() const noexcept { return all_->gpu; }

std::optional<error> recorder::out_of_turn() const {
  if (all_->finished) return detail::refusal("graph", "finish() was called; record another graph");
  if (all_->records == this) return std::nullopt;
  return detail::refusal(
      "graph",
      "this recorder does not record the current body; use the recorder that is passed to the function of "
      "if_ or while_");
}

node recorder::add(result<std::shared_ptr<const step>> made, std::string label) {
  if (const auto why = out_of_turn()) return all_->refuse(*why);
  if (!made) return all_->refuse_node(made.error(), label);
  tree_node n{.kind = node_kind::request, .number = all_->next++, .label = std::move(label), .what = std::move(*made)};
  const node out(all_->id, n.number);
  static_cast<tree_body*>(body_)->push_back(std::move(n));
  return out;
}

node recorder::add(const graph& child, std::string label) {
  if (const auto why = out_of_turn()) return all_->refuse(*why);
  if (!child)
    return all_->refuse(detail::refusal("graph", "the child graph is empty (default-constructed, or moved from)"));
  const core& of = *child.shared();
  if (!(of.gpu() == all_->gpu))
    return all_->refuse(detail::refusal("graph", "the child graph belongs to another device"));
  if (const auto why = of.wrong()) return all_->refuse(*why);
  tree_node n{.kind = node_kind::child, .number = all_->next++, .own_label = !label.empty(), .branches = of.branches()};
  n.label = n.own_label ? std::move(label) : of.name();
  n.body = of.copy();
  const node out(all_->id, n.number);
  static_cast<tree_body*>(body_)->push_back(std::move(n));
  return out;
}

node recorder::conditional(const buffer<std::uint32_t>& flag, bool repeats, const body_recorder& then,
                           const body_recorder* otherwise) {
  if (const auto why = out_of_turn()) return all_->refuse(*why);
  auto decides = recorded_step<condition>::make(gpu(), {.flag = flag});
  if (!decides) return all_->refuse_node(decides.error(), repeats ? "while" : "if");
  tree_node n{
      .kind = repeats ? node_kind::while_ : node_kind::if_, .number = all_->next++, .what = std::move(*decides)};
  recorder into(all_, &n.body);
  {
    const turn its{*all_, std::exchange(all_->records, &into)};
    then.call(then.function, into);
    if (otherwise != nullptr) {
      into.body_ = &n.otherwise;
      otherwise->call(otherwise->function, into);
    }
  }
  const node out(all_->id, n.number);
  static_cast<tree_body*>(body_)->push_back(std::move(n));
  return out;
}

graph recorder::finish() {
  if (body_ != &all_->all) {
    (void)all_->refuse(
        detail::refusal("graph", "finish() is for the recorder of the whole graph, not for that of a body"));
    return {};
  }
  if (const auto why = out_of_turn()) {
    (void)all_->refuse(*why);
    return {};
  }
  all_->finished = true;
  if (!all_->wrong && all_->all.empty())
    all_->wrong = detail::refusal("graph", "nothing was recorded; expected at least one request");
  return graph(std::make_shared<core>(all_->gpu, all_->how.name, all_->how.branches, all_->id, std::move(all_->all),
                                      all_->wrong));
}

}  // namespace troupe::graph
