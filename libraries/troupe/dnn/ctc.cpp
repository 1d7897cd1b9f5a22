// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/ctc.hpp>
#include <troupe/dnn/internal/recurrence_layout.hpp>
#include <troupe/dnn/producer.hpp>
#include <troupe/dnn/sequence_attributes.hpp>

namespace troupe::dnn {
namespace {

using detail::maker;

void check(maker& m, const value& logits, const ctc_labels& l) {
  if (!m.has_rank("logits", logits, 3, 3)) return;
  const auto is = logits.extents();
  for (const std::size_t i : {0, 2})
    if (is[i] > detail::most_counted)
      m.refuse_extents("logits", logits, cat("at most ", detail::most_counted, " steps and classes"));
  if (is[0] < 1) m.refuse_extents("logits", logits, "at least 1 step; only the number of sequences may be 0");
  if (l.blank < 0 || l.blank >= is[2]) m.refuse("blank", cat("is ", l.blank), cat("one of the ", is[2], " classes"));
  if (!m.has_rank("labels", l.labels, 2, 2)) return;
  if (l.labels.extents()[0] != is[1])
    m.refuse_extents("labels", l.labels, cat(is[1], " x longest, as the logits have sequences"));
  if (l.labels.extents()[1] < 1)
    m.refuse_extents("labels", l.labels, "at least 1 in the second place; counts may be 0");
  if (l.labels.extents()[1] > detail::most_counted)
    m.refuse_extents("labels", l.labels, cat("at most ", detail::most_counted, " labels of a sequence"));
  const std::pair<std::string_view, const value*> counts[] = {{"steps", &l.steps}, {"counts", &l.counts}};
  for (const auto& [name, v] : counts)
    if (m.has_rank(name, *v, 1, 1) && v->extents()[0] != is[1])
      m.refuse_extents(name, *v, cat(is[1], ", as the logits have sequences"));
  const std::pair<std::string_view, const value*> whole[] = {
      {"labels", &l.labels}, {"steps", &l.steps}, {"counts", &l.counts}};
  for (const auto& [name, v] : whole)
    if (m.fine()) m.is_whole(name, *v);
}

}  // namespace

value ctc_loss(const value& logits, const ctc_labels& l) {
  maker m(op::ctc_loss, "ctc_loss", {logits, l.labels, l.steps, l.counts});
  check(m, logits, l);
  if (!m.fine()) return m.done();
  m.with(ctc_attributes{l.blank});
  m.add_output(detail::floating_type({logits}), logits.extents().subspan(1, 1));
  return m.done();
}

value ctc_loss_gradient(const value& dloss, const value& logits, const ctc_labels& l) {
  maker m(op::ctc_loss_gradient, "ctc_loss_gradient", {dloss, logits, l.labels, l.steps, l.counts});
  check(m, logits, l);
  if (m.has_rank("dloss", dloss, 1, 1) && dloss.extents()[0] != logits.extents()[1])
    m.refuse_extents("dloss", dloss, cat(logits.extents()[1], ", as the logits have sequences"));
  m.with(ctc_attributes{l.blank});
  m.add_output(detail::floating_type({dloss, logits}), logits.extents());
  return m.done();
}

}  // namespace troupe::dnn
