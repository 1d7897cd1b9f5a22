// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/actor/ending/exit_progress.hpp>

namespace troupe::detail {

void exit_progress::request(exit_kind kind, const error* cause) {
  if (request_) return;
  request_.emplace(requested{.kind = kind, .cause = {}});
  if (cause) request_->cause = *cause;
}

void exit_progress::after_terminate() {
  if (!request_ || request_->kind != exit_kind::crashed || reason_.abnormal()) return;
  reason_.kind = exit_kind::crashed;
  reason_.cause = request_->cause;
}

error exit_progress::unhandled() const {
  error::details d{.reaction = reaction::stopped, .domain = "actor"};
  if (reason_.kind == exit_kind::crashed && reason_.cause) d = reason_.cause->all();
  d.text = "this message was not handled: " + reason_.to_string();
  return error(std::move(d));
}

}  // namespace troupe::detail
