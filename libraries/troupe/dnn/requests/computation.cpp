// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::dnn {

void computation::check(checker& c) const {
  if (const auto& refused = graph.refused()) {
    if (const void* const field = c.ready_field(refused->input)) return c.refuse(field, refused->is, refused->expected);
    return c.refuse(&graph, refused->what, refused->expected);
  }
  for (const dnn::graph::operand& m : graph.memory()) c.view_at(&m, m.shape);
}

void prepare::check(checker& c) const {
  request.check(c);
  c.only_reads(request);
}

}  // namespace troupe::dnn

TROUPE_CHECKS(troupe::dnn::all_requests)
