// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/async/promise.hpp>
#include <troupe/kernel/dimensions.hpp>
#include <troupe/kernel/internal/listing.hpp>
#include <troupe/kernel/program.hpp>
#include <troupe/request/describe.hpp>

/// What the handles of all actors with kernels do, each with requests of its own.
namespace troupe::kernel {

inline std::optional<error> why_unusable(const program& p, std::string_view request) {
  std::string wrong;
  if (!p)
    wrong = "the program is empty (default-made, or moved from); expected what compile or load gave";
  else if (p.core()->unloaded())
    wrong = p.core()->name() + " was unloaded; compile or load it again";
  else
    return std::nullopt;
  return error(error::details{.reaction = reaction::caller_bug,
                              .domain = "kernel",
                              .text = std::string(request) + ": " + wrong,
                              .request = {std::string(request), 0}});
}

template <class Request>
pending<build_summary> ask_summary(const program& p) {
  if (auto why = why_unusable(p, name_of<Request>())) return make_ready<build_summary>(*why);
  return p.core()->gpu().ask(Request{.recipe = in<std::byte>(p.core()->recipe()),
                                     .state = inout<std::byte>(p.core()->state()),
                                     .root = p.core()->root().address});
}

template <class Request>
pending<void> ask_ready(const program& p) {
  return ask_summary<Request>(p).then([core = p.core()](const result<build_summary>& r) -> result<void> {
    if (r) return {};
    return core ? core->with_log(r.error()) : r.error();
  });
}

/// The messages, whether it went well or not; an error when the program could not even be tried.
template <class Request>
pending<std::string> ask_log(const program& p) {
  return ask_summary<Request>(p).then([core = p.core()](const result<build_summary>& r) -> result<std::string> {
    if (!r && (!core || core->summary().written == 0)) return r.error();
    return core->log();
  });
}

/// Asks again with more room where it did not suffice, once: a worker says the same each time.
template <class Request>
void ask_attributes(const program& p, const std::string& kernel, extent room, promise<attributes> answer,
                    bool last = false) {
  const device& gpu = p.core()->gpu();
  auto listing = gpu.alloc_host<std::byte>(room);
  auto asked = gpu.ask(Request{.root = in<std::byte>(p.core()->root()), .kernel = kernel, .listing = listing});
  std::move(asked).then(
      [p, kernel, room, last, listing,
       answer = std::make_shared<promise<attributes>>(std::move(answer))](const result<attributes_head>& head) {
        if (!head) return void(answer->set(head.error()));
        if (extent(head->listing_bytes) > room && !last)
          return ask_attributes<Request>(p, kernel, head->listing_bytes, std::move(*answer), true);
        auto read = unpack_listing(*head, {reinterpret_cast<const char*>(listing.data()), listing.bytes()});
        if (!read)
          return void(answer->set(error(reaction::fatal, "kernel", "the worker's list of parameters is damaged")));
        answer->set(std::move(*read));
      });
}
template <class Request>
pending<attributes> ask_attributes(const program& p, const std::string& kernel) {
  if (auto why = why_unusable(p, name_of<Request>())) return make_ready<attributes>(*why);
  promise<attributes> answer;
  auto answered = answer.get_pending();
  ask_attributes<Request>(p, kernel, 4096, std::move(answer));
  return answered;
}

template <class Request>
pending<occupancy> ask_occupancy(const program& p, const std::string& kernel, const dimensions& block,
                                 extent shared_bytes, const dimensions& cluster) {
  if (auto why = why_unusable(p, name_of<Request>())) return make_ready<occupancy>(*why);
  return p.core()->gpu().ask(Request{.root = in<std::byte>(p.core()->root()),
                                     .kernel = kernel,
                                     .block = block,
                                     .shared_bytes = shared_bytes,
                                     .cluster = cluster});
}

template <class Request>
pending<void> ask_unload(const program& p) {
  if (auto why = why_unusable(p, name_of<Request>())) return make_ready<void>(*why);
  if (!p.core()->claim_unload()) return make_ready<void>(*why_unusable(p, name_of<Request>()));
  auto asked = p.core()->gpu().ask(
      Request{.root = out<std::byte>(p.core()->root()), .state = out<std::byte>(p.core()->state())});
  // Refused, because the mailbox is full say: then it is still loaded.
  return std::move(asked).then([core = p.core()](const result<void>& r) {
    if (!r && r.error().reaction() == reaction::retry_later)
      core->give_unload_back();
    else
      core->was_unloaded();
    return r;
  });
}

}  // namespace troupe::kernel
