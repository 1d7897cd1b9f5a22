// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "blocking_calls.hpp"
#include "client_buffers.hpp"
#include "submission.hpp"

namespace troupe::simulation {

/// The calls of clients, all through the public handle of the device.
class clients {
 public:
  clients(run_state& run, device_under_test& device, request_log& log, client_buffers& buffers, blocking_calls& calls);

  /// Makes one call.
  void act(random_bits& r);
  /// Called on the thread of a client's call instead of sleeping.
  void block_in_call(pending_core& answer, const std::function<bool()>& ready);

 private:
  void allocate(random_bits& r);
  void drop_buffer(random_bits& r);
  void cancel(random_bits& r);
  void reset();
  void seal_or_unseal(random_bits& r);
  void send(random_bits& r);
  void send_anything(random_bits& r);
  void send_operation(client_request& q, const client_buffer& x, client_buffer y, const call_options& o,
                      random_bits& r);
  void send_repeated(random_bits& r);
  void send_after(const client_request& answered);
  void upload_all(const client_buffer& to, random_bits& r);
  void upload(client_request& q, const client_buffer& to, const call_options& o, random_bits& r);
  call_options choose_options(client_request& q, random_bits& r) const;

  run_state& run_;
  device_under_test& device_;
  request_log& log_;
  client_buffers& buffers_;
  blocking_calls& calls_;
  submission submission_;
  std::shared_ptr<model_buffer> last_input_;  // of a request that combines
  bool sending_ = false;  // an answer that arrives meanwhile sends nothing: its place in the order would be uncertain
};

}  // namespace troupe::simulation
