// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/dnn.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/describe.hpp>

namespace troupe::dnn {
namespace {

void check_graph(checker& c, const graph& g) {
  if (const auto& refused = g.refused()) {
    if (const void* const field = c.ready_field(refused->input)) return c.refuse(field, refused->is, refused->expected);
    return c.refuse(&g, refused->what, refused->expected);
  }
  for (const graph::operand& m : g.memory()) c.view_at(&m, m.shape);
}

}  // namespace

void computation::check(checker& c) const { check_graph(c, graph); }
void prepare::check(checker& c) const { check_graph(c, graph); }

}  // namespace troupe::dnn

TROUPE_CHECKS(troupe::dnn::all_requests)
