// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/operations/ctc/ctc.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/recurrence/layout.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;

void check(node_maker& m, const value& logits, const ctc_labels& l) {
  if (!m.has_rank("logits", logits, 3, 3)) return;
  const auto is = logits.extents();
  for (const std::size_t i : {0, 2})
    if (is[i] > detail::most_counted)
      m.refuse_extents("logits", logits, cat("at most ", detail::most_counted, " steps and classes"));
  if (is[0] < 1) m.refuse_extents("logits", logits, "at least 1 step; only the number of sequences may be 0");
  if (l.blank < 0 || l.blank >= is[2]) m.refuse("blank", cat("is ", l.blank), cat("one of the ", is[2], " classes"));
  if (!m.has_rank("labels", l.labels, 2, 2)) return;
  if (l.labels.extents()[0] != is[1])
    m.refuse_extents("labels", l.labels, cat(is[1], " x most labels, as the logits have ", is[1], " sequences"));
  if (l.labels.extents()[1] < 1) m.refuse_extents("labels", l.labels, "at least 1 label along axis 1; counts may be 0");
  if (l.labels.extents()[1] > detail::most_counted)
    m.refuse_extents("labels", l.labels, cat("at most ", detail::most_counted, " labels of a sequence"));
  const std::pair<std::string_view, const value*> counts[] = {{"steps", &l.steps}, {"counts", &l.counts}};
  for (const auto& [name, v] : counts)
    if (m.has_rank(name, *v, 1, 1) && v->extents()[0] != is[1])
      m.refuse_extents(name, *v, cat(is[1], ", the sequences of the logits"));
  const std::pair<std::string_view, const value*> integers[] = {
      {"labels", &l.labels}, {"steps", &l.steps}, {"counts", &l.counts}};
  for (const auto& [name, v] : integers)
    if (m.fine()) m.is_i32_in_memory(name, *v);
}

}  // namespace

value ctc_loss(const value& logits, const ctc_labels& l) {
  node_maker m(op::ctc_loss, "ctc_loss", {logits, l.labels, l.steps, l.counts});
  check(m, logits, l);
  if (!m.fine()) return m.done();
  m.with(ctc_attributes{l.blank});
  m.add_output(detail::floating_type({logits}), logits.extents().subspan(1, 1));
  return m.done();
}

value ctc_loss_gradient(const value& dloss, const value& logits, const ctc_labels& l) {
  node_maker m(op::ctc_loss_gradient, "ctc_loss_gradient", {dloss, logits, l.labels, l.steps, l.counts});
  check(m, logits, l);
  if (m.has_rank("dloss", dloss, 1, 1) && dloss.extents()[0] != logits.extents()[1])
    m.refuse_extents("dloss", dloss, cat(logits.extents()[1], ", the sequences of the logits"));
  m.with(ctc_attributes{l.blank});
  m.add_output(detail::floating_type({dloss, logits}), logits.extents());
  return m.done();
}

computation ctc_forward::to_request() const {
  detail::request_builder builder({{"dloss", "dlosses"}});
  const value of = builder.read("logits", logits);
  const ctc_labels l{builder.read("labels", labels), builder.read("steps", steps), builder.read("counts", counts),
                     blank};
  const value all = ctc_loss(of, l);
  builder.write("losses", all, losses);
  builder.require_with("dlogits", dlogits.has_value(), "dlosses", dlosses.has_value());
  // Without dlosses, the gradient of each loss is 1.
  if (dlogits)
    builder.write("dlogits", ctc_loss_gradient(dlosses ? builder.read("dlosses", *dlosses) : select(all, 1, 1), of, l),
                  *dlogits);
  return builder.done(options);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_ctc_loss(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::ctc_loss_gradient, {d.dy(), d.in(0), d.in(1), d.in(2), d.in(3)}, d.in(0)); });
}

}  // namespace troupe::dnn::detail
