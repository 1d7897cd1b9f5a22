// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/round_up.hpp>
#include <troupe/dnn/host/planner.hpp>
#include <troupe/dnn/host/sets.hpp>
#include <troupe/dnn/host/windows.hpp>

namespace troupe::dnn::host {
namespace {

bool is_of_elements(op o) noexcept { return o == op::pointwise || o == op::convert || o == op::write; }

bool same_extents(const tensor_shape& a, const tensor_shape& b) noexcept {
  return a.rank == b.rank && a.extents == b.extents;
}

}  // namespace

template <class N>
planner<N>::planner(const seen_graph& g) : graph_(g), tensors_(g.tensors().size()) {
  look();
}

// Finds out what becomes of each tensor.
template <class N>
void planner<N>::look() {
  const auto nodes = graph_.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t k = 0; k < nodes[i].input_count; ++k) {
      tensor_state& t = tensors_[nodes[i].inputs[k]];
      t.last_reader = i, ++t.readers;
      const seen_tensor& to = tensor(nodes[i].outputs[0]);
      const bool is_copy = nodes[i].what == op::write && to.type == dtype_of<N> && is_dense(to.shape);
      t.writes_to = is_copy && t.readers == 1 ? nodes[i].outputs[0] : no_tensor;
    }
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const seen_tensor& t = graph_.tensors()[i];
    if (t.where == seen_tensor::place::memory)
      tensors_[i].place =
          location{.is_buffer = false, .number = t.memory, .type = t.type, .offset = 0, .shape = t.shape};
  }
}

template <class N>
void planner<N>::plan(program& to) {
  for (const seen_node& n : graph_.nodes()) {
    add(n);
    ++node_;
  }
  close();
  place_buffers(to);
  to.steps_ = std::move(steps_);
}

template <class N>
void planner<N>::add(const seen_node& n) {
  if (is_of_elements(n.what)) {
    // A result that went where it is written already.
    const auto& from = tensors_[n.inputs[0]];
    if (n.what == op::write && from.place && !from.place->is_buffer &&
        tensor(n.inputs[0]).where == seen_tensor::place::within && from.writes_to == n.outputs[0] &&
        from.place->number == tensor(n.outputs[0]).memory)
      return;
    if (!joins(n)) close();
    return join(n);
  }
  // The open pass can go on behind a step that needs nothing of it.
  for (std::size_t k = 0; k < n.input_count; ++k)
    if (tensors_[n.inputs[k]].slot && !tensors_[n.inputs[k]].place) close();
  add_step(n);
}

// -- passes

template <class N>
bool planner<N>::joins(const seen_node& n) const {
  return open_ && same_extents(open_->extents(), tensor(n.outputs[0]).shape);
}

template <class N>
auto planner<N>::slot_of(std::uint16_t t) -> typename pass<N>::slot {
  tensor_state& s = tensors_[t];
  if (s.slot) return *s.slot;
  if (tensor(t).where == seen_tensor::place::number) return open_->number(tensor(t).number);
  pass_locations_.push_back(place_of(t));
  const auto slot = open_->read(pass_locations_.back());
  // What is broadcast has other extents, which the slot hides: only for this pass.
  s.slot = slot, in_pass_.push_back(t);
  return slot;
}

template <class N>
void planner<N>::join(const seen_node& n) {
  const seen_tensor& out = tensor(n.outputs[0]);
  if (!open_) open_.emplace(out.shape);
  typename pass<N>::slot in[3] = {};
  for (std::size_t k = 0; k < n.input_count; ++k) in[k] = slot_of(n.inputs[k]);
  for (std::size_t k = n.input_count; k < 3; ++k) in[k] = in[0];
  tensor_state& made = tensors_[n.outputs[0]];
  if (n.what == op::write) {
    pass_locations_.push_back(*made.place);
    return open_->write(in[0], *made.place);
  }
  made.slot = n.what == op::convert ? open_->round(out.type, in[0])
                                    : open_->apply(n.numbers.as<pointwise_form>().function, in[0], in[1], in[2]);
  in_pass_.push_back(n.outputs[0]);
}

// Ends the open pass. What is wanted of it later is kept.
template <class N>
void planner<N>::close() {
  if (!open_) return;
  for (const std::uint16_t t : in_pass_) {
    tensor_state& s = tensors_[t];
    if (!s.place && s.last_reader >= node_ && s.readers > 0) {
      s.place = result(t);
      open_->write(*s.slot, *s.place);
      pass_locations_.push_back(*s.place);
    }
    s.slot.reset();
  }
  open_->finish();
  auto p = std::make_shared<const pass<N>>(std::move(*open_));
  open_.reset();
  in_pass_.clear();
  for (const location& l : pass_locations_)
    if (l.is_buffer)
      buffers_[l.number].first = std::min(buffers_[l.number].first, steps_.size()),
      buffers_[l.number].last = steps_.size();
  pass_locations_.clear();
  steps_.push_back([p](const workspace& w) { p->run(w); });
}

// -- steps

template <class N>
template <class F>
void planner<N>::step(std::initializer_list<const location*> used, F&& f) {
  for (const location* l : used)
    if (l->is_buffer)
      buffers_[l->number].first = std::min(buffers_[l->number].first, steps_.size()),
      buffers_[l->number].last = steps_.size();
  steps_.push_back(std::forward<F>(f));
}

template <class N>
void planner<N>::copy(const location& from, const location& to) {
  pass<N> p(to.shape);
  p.write(p.read(from), to);
  p.finish();
  step({&from, &to}, [all = std::make_shared<const pass<N>>(std::move(p))](const workspace& w) { all->run(w); });
}

template <class N>
location planner<N>::new_buffer(const tensor_shape& s) {
  location l{.is_buffer = true,
             .number = static_cast<std::uint16_t>(buffers_.size()),
             .type = dtype_of<N>,
             .offset = 0,
             .shape = s};
  l.shape.strides = dense_strides(s);
  buffers_.push_back({round_up(static_cast<std::uint64_t>(elements_of(s)) * sizeof(N), 64), SIZE_MAX, 0});
  return l;
}

// Where a step puts a tensor: in the memory that it is written to, if that is all that becomes of it.
template <class N>
location planner<N>::result(std::uint16_t t) {
  const std::uint16_t to = tensors_[t].writes_to;
  if (to == no_tensor || !same_extents(tensor(to).shape, tensor(t).shape)) return new_buffer(tensor(t).shape);
  location l = *tensors_[to].place;
  l.shape.strides = dense_strides(l.shape);
  return l;
}

template <class N>
location planner<N>::place_of(std::uint16_t t) {
  return *tensors_[t].place;
}

template <class N>
location planner<N>::dense(std::uint16_t t) {
  tensor_state& s = tensors_[t];
  location l = place_of(t);
  if (l.type == dtype_of<N> && is_dense(l.shape)) {
    l.shape.strides = dense_strides(l.shape);
    return l;
  }
  if (!s.dense) {
    s.dense = new_buffer(l.shape);
    copy(l, *s.dense);
  }
  return *s.dense;
}

template <class N>
void planner<N>::add_view(const seen_node& n) {
  const std::uint16_t to = n.outputs[0];
  location l = n.what == op::reshape ? dense(n.inputs[0]) : place_of(n.inputs[0]);
  const tensor_shape before = l.shape;
  l.shape = tensor(to).shape;
  if (n.what == op::reshape) l.shape.strides = dense_strides(l.shape);
  for (std::size_t i = 0; n.what != op::reshape && i < l.shape.rank; ++i) {
    const auto from =
        n.what == op::transposition ? static_cast<std::size_t>(n.numbers.as<transposition_form>().from[i]) : i;
    l.shape.strides[i] = before.strides[from];
    if (n.what == op::slice) l.offset += n.numbers.as<slice_form>().first[i] * before.strides[i];
  }
  tensors_[to].place = l;
}

template <class N>
void planner<N>::add_concatenation(const seen_node& n) {
  const location whole = result(n.outputs[0]);
  const auto along = static_cast<std::size_t>(n.numbers.as<concatenation_form>().along);
  std::int64_t first = 0;
  for (std::size_t k = 0; k < n.input_count; ++k) {
    location part = whole;
    part.shape.extents = tensor(n.inputs[k]).shape.extents;
    part.offset += first * whole.shape.strides[along];
    first += part.shape.extents[along];
    copy(place_of(n.inputs[k]), part);
  }
  tensors_[n.outputs[0]].place = whole;
}

template <class N>
void planner<N>::add_normalization(const seen_node& n) {
  const auto f = n.numbers.as<normalization_form>();
  normalization_tensors t;
  std::size_t next = 0;
  const auto input = [&] { return dense(n.inputs[next++]); };
  t.x = input();
  if (f.has_affine != 0) t.scale = input();
  if (f.has_affine != 0 && f.rms == 0) t.offset = input();
  if (f.has_running != 0) t.running_mean = input(), t.running_variance = input();
  const auto output = [&](std::size_t i) { return *(tensors_[n.outputs[i]].place = result(n.outputs[i])); };
  t.y = output(0), t.mean = output(1), t.deviation = output(2);
  if (f.has_running != 0) t.next_mean = output(3), t.next_variance = output(4);
  const location none{};
  const auto or_none = [&](const std::optional<location>& l) { return l ? &*l : &none; };
  step({&t.x, &t.y, &t.mean, &t.deviation, or_none(t.scale), or_none(t.offset), or_none(t.running_mean),
        or_none(t.running_variance), or_none(t.next_mean), or_none(t.next_variance)},
       [f, t](const workspace& w) { normalize<N>(w, f, t); });
}

template <class N>
void planner<N>::add_normalization_gradient(const seen_node& n) {
  const auto f = n.numbers.as<normalization_form>();
  normalization_gradient_tensors t;
  t.dy = dense(n.inputs[0]), t.x = dense(n.inputs[1]), t.mean = dense(n.inputs[2]), t.deviation = dense(n.inputs[3]);
  if (f.has_affine != 0) t.scale = dense(n.inputs[4]);
  const auto output = [&](std::size_t i) { return *(tensors_[n.outputs[i]].place = result(n.outputs[i])); };
  t.dx = output(0);
  if (f.has_affine != 0) t.dscale = output(1);
  if (f.has_affine != 0 && f.rms == 0) t.doffset = output(2);
  const location none{};
  const auto or_none = [&](const std::optional<location>& l) { return l ? &*l : &none; };
  step({&t.dy, &t.x, &t.mean, &t.deviation, &t.dx, or_none(t.scale), or_none(t.dscale), or_none(t.doffset)},
       [f, t](const workspace& w) { normalization_gradient<N>(w, f, t); });
}

template <class N>
void planner<N>::add_step(const seen_node& n) {
  if (n.what == op::reshape || n.what == op::transposition || n.what == op::slice) return add_view(n);
  if (n.what == op::concatenation) return add_concatenation(n);
  if (n.what == op::normalization) return add_normalization(n);
  if (n.what == op::normalization_gradient) return add_normalization_gradient(n);
  const location x = dense(n.inputs[0]), y = n.input_count > 1 ? dense(n.inputs[1]) : location{};
  const location to = *(tensors_[n.outputs[0]].place = result(n.outputs[0]));
  const auto put = [&](auto&& f) { step({&x, &y, &to}, f); };
  const form numbers = n.numbers;
  switch (n.what) {
    case op::convolution:
      return put([=](const workspace& w) { convolve<N>(w, numbers.as<convolution_form>(), x, y, to); });
    case op::convolution_data_gradient:
      return put(
          [=](const workspace& w) { host::convolution_data_gradient<N>(w, numbers.as<convolution_form>(), x, y, to); });
    case op::convolution_weight_gradient:
      return put([=](const workspace& w) {
        host::convolution_weight_gradient<N>(w, numbers.as<convolution_form>(), x, y, to);
      });
    case op::product:
      return put([=](const workspace& w) { multiply_matrices<N>(w, x, y, to); });
    case op::reduction:
      return put([=](const workspace& w) { reduce<N>(w, numbers.as<reduction_form>(), x, to); });
    case op::pooling:
      return put([=](const workspace& w) { pool<N>(w, numbers.as<pooling_form>(), x, to); });
    case op::pooling_gradient: {
      const bool has_x = n.input_count > 1;
      return put(
          [=](const workspace& w) { pool_gradient<N>(w, numbers.as<pooling_form>(), x, has_x ? &y : nullptr, to); });
    }
    case op::softmax:
      return put([=](const workspace& w) { host::softmax<N>(w, numbers.as<softmax_form>(), x, to); });
    default:
      return put([=](const workspace& w) { host::softmax_gradient<N>(w, numbers.as<softmax_form>(), x, y, to); });
  }
}

// Gives each buffer the lowest place that is free while it is used.
template <class N>
void planner<N>::place_buffers(program& to) const {
  to.buffers_.assign(buffers_.size(), 0);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    std::uint64_t at = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t k = 0; k < i; ++k) {
        const bool together = buffers_[k].first <= buffers_[i].last && buffers_[i].first <= buffers_[k].last;
        if (together && at < to.buffers_[k] + buffers_[k].bytes && to.buffers_[k] < at + buffers_[i].bytes)
          at = to.buffers_[k] + buffers_[k].bytes, moved = true;
      }
    }
    to.buffers_[i] = at;
    to.scratch_bytes_ = std::max(to.scratch_bytes_, at + buffers_[i].bytes);
  }
}

template class planner<float>;
template class planner<double>;

}  // namespace troupe::dnn::host
