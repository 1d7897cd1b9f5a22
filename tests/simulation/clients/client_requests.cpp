// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The requests that clients choose from.
#include <algorithm>

#include <tests/simulation/requests.hpp>
#include "clients.hpp"

namespace troupe::simulation {

// Sends one of two values, may compute with it, and reads the result, which kills the worker if it is the bad one.
void clients::send_repeated(random_bits& r) {
  const client_buffer b = buffers_.any(r);
  const std::uint32_t n = b.model->size();
  const bool bad = r.percent(50), indirect = r.percent(50);
  {
    client_request& q = log_.begin(request_kind::fill);
    q.param = bad ? 13 : 7;
    q.will_write(b, n);
    submission_.sent(q, device_.handle().fill(b.handle, q.param), r);
  }
  if (indirect) {
    client_request& q = log_.begin(request_kind::add);
    q.param = 2;
    q.will_read(b, n);
    q.will_write(b, n);
    submission_.sent(q, device_.handle().ask(simulated::add{.x = b.handle, .n = b.handle.size(), .by = q.param}), r);
  }
  client_request& q = log_.begin(request_kind::look);
  q.deadly_starts = bad ? 9 : 0;
  q.will_read(b, n);
  submission_.sent(q, device_.handle().ask(simulated::look{.a = b.handle, .n = b.handle.size()}), r);
}

void clients::send_anything(random_bits& r) {
  auto kind = static_cast<request_kind>(r.below(11));
  if (run_.settings.transfers && r.percent(60)) kind = r.percent(60) ? request_kind::upload : request_kind::download;
  if (run_.settings.deadly && r.percent(25)) kind = request_kind::add;  // which reads what it writes
  if (run_.settings.sequences && r.percent(80)) kind = request_kind::combine;
  if (run_.damage && r.percent(30)) kind = request_kind::spoil;
  client_request& q = log_.begin(kind);
  const call_options o = choose_options(q, r);
  q.param = static_cast<word>(r.next());
  device& gpu = device_.handle();
  client_buffer x = buffers_.any_part(r), y = buffers_.any_part(r);
  while (y.model == x.model) y = buffers_.any_part(r);
  switch (kind) {
    case request_kind::fill:
      q.will_write(x, x.size());
      return submission_.sent(q, gpu.fill(x.handle, q.param, o), r);
    case request_kind::upload:
      return upload(q, x, o, r);
    case request_kind::download:
      q.will_read(x, x.size());
      return submission_.sent(q, gpu.download(x.handle, o), r);
    case request_kind::copy:
      if (x.size() > y.size()) std::swap(x, y);
      q.will_read(x, x.size());
      q.will_write(y, x.size());
      return submission_.sent(q, gpu.copy(y.handle, x.handle, o), r);
    case request_kind::ping:
      return submission_.sent(q, gpu.ping(q.param), r);
    case request_kind::fence:
      return submission_.sent(q, gpu.sync(), r);
    default:
      return send_operation(q, x, y, o, r);
  }
}

void clients::send_operation(client_request& q, const client_buffer& x, client_buffer y, const call_options& o,
                             random_bits& r) {
  switch (q.kind) {
    case request_kind::add:
      q.will_read(x, x.size());
      q.will_write(x, x.size());
      return submission_.ask_or_tell(q, simulated::add{.x = x.handle, .n = x.handle.size(), .by = q.param}, o, r);
    case request_kind::combine: {
      // Each overwrites what the one before it reads.
      if (run_.settings.sequences && last_input_ != x.model && r.percent(60))
        for (const client_buffer& b : buffers_.all())
          if (b.model == last_input_) y = b;
      last_input_ = x.model;
      client_buffer z = buffers_.any_part(r);
      while (z.model == y.model) z = buffers_.any_part(r);
      const std::uint32_t n = std::min({x.size(), y.size(), z.size()});
      q.will_read(x, n);
      q.will_read(z, n);
      q.will_write(y, n);
      return submission_.ask_or_tell(q, simulated::combine{.a = x.handle, .b = z.handle, .y = y.handle, .n = n}, o, r);
    }
    case request_kind::gather: {
      std::vector<in<word>> parts;
      for (std::uint32_t n = r.percent(20) ? r.between(12, 20) : r.between(1, 3); n > 0; --n) {
        client_buffer p = buffers_.any_part(r);
        while (p.model == y.model) p = buffers_.any_part(r);
        q.will_read(p, 1);
        parts.push_back(p.handle);
      }
      q.will_write(y, 1);
      return submission_.ask_or_tell(q, simulated::gather{.parts = std::move(parts), .y = y.handle}, o, r);
    }
    case request_kind::look:
      q.will_read(x, x.size());
      return submission_.ask_or_tell(q, simulated::look{.a = x.handle, .n = x.handle.size()}, o, r);
    case request_kind::spoil:
      q.will_write(x, x.size());
      return submission_.ask_or_tell(q, simulated::spoil{.y = x.handle, .n = x.handle.size()}, o, r);
    default:
      return;
  }
}

}  // namespace troupe::simulation
