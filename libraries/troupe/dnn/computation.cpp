// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/dnn.hpp>
#include <troupe/dnn/producer.hpp>
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
  c.require(is_known(r.precision), r.precision, "is not a precision", "exact or tf32");
  c.require(is_known(r.repeatability), r.repeatability, "is unknown", "always or not_needed");
  c.require(is_known(r.fusion), r.fusion, "is unknown", "allowed or required");
  c.require(is_known(r.choice), r.choice, "is unknown", "recommended or measured");
}

}  // namespace

void computation::check(checker& c) const { check_request(c, *this); }
void prepare::check(checker& c) const { check_request(c, *this); }

}  // namespace troupe::dnn

TROUPE_CHECKS(troupe::dnn::all_requests)
