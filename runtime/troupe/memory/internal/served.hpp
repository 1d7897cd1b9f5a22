// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/memory/managed.hpp>
#include <troupe/memory/requests.hpp>
#include <troupe/worker/engine.hpp>

namespace troupe::memory {

/// The requests that both engines serve.
using served = request_list<anywhere<copy>, uploads<upload>, downloads<download>, anywhere<copy_2d>, anywhere<fill>,
                            uploads<stream_in>, downloads<stream_out>, downloads<peer_show>, uploads<peer_take>,
                            downloads<peer_send>, uploads<peer_receive>, prefetch, advise, look_at_managed, seal,
                            unseal, fences<fence>, ping, follows<lend>, follows<show>, follows<take_back>>;

/// Turns the error of an unseal into one that replaces the worker: otherwise every later write to that memory would be
/// a fault.
inline result<void> or_replaced(result<void> opened) {
  if (opened) return opened;
  error::details why = opened.error().all();
  why.reaction = reaction::context_lost;
  return error(std::move(why));
}

}  // namespace troupe::memory
