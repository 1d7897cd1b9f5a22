// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/fft/placement.hpp>
#include <troupe/fft/transforms.hpp>
#include <troupe/kernel/launch.hpp>
#include <troupe/request/checks_of.hpp>
#include <troupe/request/encoding/describe.hpp>

namespace troupe::fft {
namespace {

// Checks extents and batch. Makes texts only for errors, because this is on the hot path.
bool has_extents(checker& check, const shape& n, const extent& batch) {
  bool right = n.rank() > 0;
  for (std::size_t i = 0; i < n.rank(); ++i) right &= n[i] >= 1;
  if (!right) [[unlikely]]
    check.refuse(&n, cat("is ", to_string(n)), "1 to 3 extents of at least 1");
  check.positive(batch);
  return right && batch >= 1;
}

// Checks a layout, naming the field. Returns false if it is impossible, and must not be used further.
bool fits(checker& check, const layout& l, const shape& n) {
  bool embeds = true;
  if (l.embed != shape::tight()) {
    embeds = l.embed.rank() == n.rank();
    for (std::size_t i = 0; embeds && i < n.rank(); ++i) embeds = l.embed[i] >= n[i];
  }
  if (embeds && l.stride >= 1 && (l.distance == tight || l.distance >= 1)) [[likely]]
    return true;
  if (!embeds)
    check.refuse(&l, cat("has embed ", to_string(l.embed)),
                 cat(counted(n.rank(), "extent", "extents"), " of at least ", to_string(n)));
  else if (!(l.stride >= 1))
    check.refuse(&l, cat("has stride ", troupe::detail::text(l.stride)), "at least 1");
  else
    check.refuse(&l, cat("has distance ", troupe::detail::text(l.distance)), "at least 1, or tight");
  return false;
}

bool overflows(checker& check, const shape& n, const placement& p) {
  if (!p.reach.overflowed() && !(n.count() * p.batch).overflowed()) [[likely]]
    return false;
  check.refuse(&n, cat("is ", to_string(n), ", which with its batch and layout needs more than 2^63 elements"),
               "a transform that fits 64 bits");
  return p.reach.overflowed();
}

template <class T, access_mode M>
void touch(checker& check, const operand<T, M>& field, const placement& p) {
  if (p.dense)
    check.elements(field, p.reach);
  else
    check.elements_among(field, p.reach);
}

struct sides {
  placement input, output;
  bool right = false;
};

// Checks everything that needs no memory, for transforms and for `prepare`.
template <class R>
sides geometry(checker& check, const R& r, const shape& in_n, const shape& out_n) {
  sides out{placement_of({}, 1, 1), placement_of({}, 1, 1)};
  if (!has_extents(check, r.n, r.batch) || !fits(check, r.input_layout, in_n) || !fits(check, r.output_layout, out_n))
    return out;
  out.input = placement_of(r.input_layout, in_n, r.batch);
  out.output = placement_of(r.output_layout, out_n, r.batch);
  if (overflows(check, r.n, out.input) || overflows(check, r.n, out.output)) return out;
  if (!out.output.separated) [[unlikely]]
    check.refuse(&r.output_layout, cat("is ", to_string(r.output_layout), ", where several elements have one address"),
                 "strides, embed and distance that keep the elements of the output apart");
  out.right = out.output.separated;
  return out;
}

// Checks the fields of callbacks. A load function may read any element of the input, and a store function may leave
// elements of the output unchanged.
template <class R>
void memory(checker& check, const R& r, const sides& s) {
  touch(check, r.input, s.input);
  touch(check, r.output, s.output);
  if (!r.callbacks) {
    check.require(!r.load_data, r.load_data, "is given without callbacks", "none, or callbacks with a load function");
    check.require(!r.store_data, r.store_data, "is given without callbacks",
                  "none, or callbacks with a store function");
    return;
  }
  kernel::check_program(check, r.callbacks, &r.callbacks);
  if (r.callbacks.stores() && r.normalization != normalization::none) [[unlikely]]
    check.refuse(&r.normalization, cat("is ", to_string(r.normalization), " with a store callback"),
                 "none: apply the factor in the callback");
  check.elements(r.input, r.input.size());
  if (r.callbacks.stores()) check.elements_among(r.output, r.output.size());
  if (r.load_data) check.elements(*r.load_data, r.load_data->size());
  if (r.store_data) check.elements(*r.store_data, r.store_data->size());
}

// Checks a real transform in place. The most common mistake is a real side without the padding that the complex side
// needs.
template <class R, class Real>
void real_in_place(checker& check, const R& r, const placement& real, const placement& complex,
                   const Real& real_layout) {
  if (r.input.range().address != r.output.range().address) return;
  if (!in_place(real, complex, 2)) [[unlikely]]
    check.refuse(&real_layout, cat("is ", to_string(real_layout), ", too small for the transform in place"),
                 cat("embed ", to_string(padded(r.n)),
                     " (padded(n)) with stride 1, and a distance to match, or another output"));
  check.may_overlap(&r.input, &r.output);
}

}  // namespace

template <class T>
void c2c<T>::check(checker& check) const {
  const sides s = geometry(check, *this, n, n);
  if (!s.right) return;
  memory(check, *this, s);
  if (input.range().address == output.range().address && in_place(s.input, s.output, 1))
    check.may_overlap(&input, &output);
}

template <class T>
void r2c<T>::check(checker& check) const {
  const sides s = geometry(check, *this, n, half_of(n));
  if (!s.right) return;
  memory(check, *this, s);
  real_in_place(check, *this, s.input, s.output, input_layout);
}

template <class T>
void c2r<T>::check(checker& check) const {
  const sides s = geometry(check, *this, half_of(n), n);
  if (!s.right) return;
  memory(check, *this, s);
  if (consumes_input) check.also_writes(&input);
  real_in_place(check, *this, s.output, s.input, output_layout);
}

template <class T>
void prepare<T>::check(checker& check) const {
  const bool forward = direction == fft::direction::forward;
  geometry(check, *this, is_real<T> && !forward ? half_of(n) : n, is_real<T> && forward ? half_of(n) : n);
}

}  // namespace troupe::fft

TROUPE_CHECKS(troupe::fft::all_transforms)
