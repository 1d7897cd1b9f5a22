// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/ctc/ctc.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/requests/ready_ctc.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

namespace troupe::dnn {

computation ctc_forward::sent() const {
  detail::request_builder f({{"dloss", "dlosses"}});
  const value of = f.read("logits", logits);
  const ctc_labels l{f.read("labels", labels), f.read("steps", steps), f.read("counts", counts), blank};
  const value all = ctc_loss(of, l);
  f.write("losses", all, losses);
  f.require_with("dlogits", dlogits.has_value(), "dlosses", dlosses.has_value());
  // Without dlosses, the gradient of each loss is 1.
  if (dlogits)
    f.write("dlogits", ctc_loss_gradient(dlosses ? f.read("dlosses", *dlosses) : select(all, 1, 1), of, l), *dlogits);
  return f.done(options);
}

}  // namespace troupe::dnn
