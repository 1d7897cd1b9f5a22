// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <new>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::dnn {

value::value(double number) {
  auto made = std::make_shared<detail::producer>();
  made->number = number;
  made->outputs.push_back({dtype::f64, {}});
  from_ = std::move(made);
}

value::value(in_any memory) {
  auto made = std::make_shared<detail::producer>();
  const tensor_shape& s = memory.shape();
  tensor_shape extents{.rank = s.rank, .extents = s.extents};
  if (s.rank == 0 || elements_of(s) < 0)
    made->refused = {"reads a tensor that was never made", "a tensor with extents", "", "was never made"};
  else if (!detail::is_element(memory.type()))
    made->refused = {cat("reads a tensor of ", to_string(memory.type())), std::string(detail::elements), "",
                     cat("holds ", to_string(memory.type()))};
  else
    made->outputs.push_back({memory.type(), extents});
  // Store the memory for the request: a view that was refused when it was made has its own reason, which the request
  // reports.
  made->memory = std::move(memory);
  from_ = std::move(made);
}

namespace detail {

input_list::~input_list() {
  // The list of the outermost destructor, which the destructors that it causes extend.
  static thread_local std::vector<value>* pending = nullptr;
  if (pending != nullptr) {
    try {
      pending->insert(pending->end(), std::move_iterator(all_.begin()), std::move_iterator(all_.end()));
    } catch (const std::bad_alloc&) {
      // The inputs are destroyed here.
    }
    return;
  }
  pending = &all_;
  while (!all_.empty()) {
    const value last = std::move(all_.back());
    all_.pop_back();
  }
  pending = nullptr;
}

}  // namespace detail

dtype value::type() const noexcept { return from_->outputs.empty() ? dtype::f32 : from_->outputs[output_].type; }
std::span<const std::int64_t> value::extents() const noexcept {
  if (from_->outputs.empty()) return {};
  const tensor_shape& s = from_->outputs[output_].shape;
  return {s.extents.data(), s.rank};
}
std::string value::why_refused() const {
  return from_->refused ? cat(from_->refused->what, "; expected ", from_->refused->expected) : "";
}

}  // namespace troupe::dnn
