// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/request/checker.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/describe.hpp>

namespace troupe::dnn {
namespace {

template <class R>
void check_request(checker& c, const R& r) {
  const graph& g = r.graph;
  if (const auto& refused = g.refused()) {
    if (const void* const field = c.ready_field(refused->input)) return c.refuse(field, refused->is, refused->expected);
    return c.refuse(&g, refused->what, refused->expected);
  }
  for (const graph::operand& m : g.memory()) c.view_at(&m, m.shape);
}

}  // namespace

void computation::check(checker& c) const { check_request(c, *this); }
void prepare::check(checker& c) const { check_request(c, *this); }

}  // namespace troupe::dnn

TROUPE_CHECKS(troupe::dnn::all_requests)
