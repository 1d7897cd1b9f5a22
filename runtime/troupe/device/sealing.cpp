// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/completion/on_answer.hpp>
#include <troupe/device/core/device_access.hpp>
#include <troupe/device/sealing.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::detail {

// Neither request can be cancelled, because the application relies on the state of the memory that it asked for.

pending<void> seal(const device& gpu, const memory_range& r) {
  const std::shared_ptr<device_core>& core = device_access::core(gpu);
  if (core->admission.left()) return make_ready<void>(core->admission.refusal());
  const auto begun = core->memory.seals().begin(r);
  if (!begun) return make_ready<void>(begun.error());
  if (begun->bytes == 0) return make_ready<void>({});
  core->mailbox.seal_begins();
  const memory::seal request{.target = in<std::byte>(r), .bytes = begun->bytes};
  checker c(request, &core->memory, core->memory.generation());
  request.check(c);
  auto done = new_answer(core), answer = new_answer(core);
  const auto by = core->worker.id();  // if another worker seals instead, this one has ended
  core->mailbox.submit(info_of<memory::seal>, &request, c, done.get(), nullptr, {}, {});
  when_answered(done, [core, held = r.owner, number = begun->number, answer, by](const result<void>& how) {
    core->memory.seals().end(*held.get(), number, static_cast<bool>(how), by);
    answer->complete(how);
  });
  return pending<void>(std::move(answer));
}

pending<void> unseal(const device& gpu, const memory_range& r) {
  const std::shared_ptr<device_core>& core = device_access::core(gpu);
  if (core->admission.left()) return make_ready<void>(core->admission.refusal());
  const auto begun = core->memory.seals().begin_unseal(r);
  if (!begun) return make_ready<void>(begun.error());
  if (begun->bytes == 0) return make_ready<void>({});
  const memory::unseal request{.target = inout<std::byte>(r), .bytes = begun->bytes};
  checker c(request, &core->memory, core->memory.generation());
  request.check(c);
  auto done = new_answer(core), answer = new_answer(core);
  const accepted sent = core->mailbox.submit(info_of<memory::unseal>, &request, c, done.get(), nullptr, {}, {});
  // If a worker that replaces this one has to unseal the memory, it does so by the same request.
  core->memory.seals().end_unseal(*r.owner.get(), sent.ticket(), core->worker.id());
  when_answered(done, [core, held = r.owner, answer, refused = sent.ticket() == 0](const auto& how) {
    if (!how && !refused) core->memory.seals().unseal_was_lost(*held.get());
    answer->complete(how);
  });
  return pending<void>(std::move(answer));
}

}  // namespace troupe::detail
