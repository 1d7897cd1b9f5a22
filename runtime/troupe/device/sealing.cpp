// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/device/completion/on_answer.hpp>
#include <troupe/device/core.hpp>
#include <troupe/device/device.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe {

// Neither request can be cancelled: what the application holds to be true of the memory must become true.

pending<void> device::seal_memory(const memory_range& r) const {
  const auto begun = core_->memory.seals().begin(r);
  if (!begun) return make_ready<void>(begun.error());
  if (begun->bytes == 0) return make_ready<void>({});
  core_->mailbox.seal_begins();
  const memory::seal request{.target = in<std::byte>(r), .bytes = begun->bytes};
  checker c(request, owner(), generation());
  request.check(c);
  auto done = detail::new_answer(core_), answer = detail::new_answer(core_);
  const auto by = core_->worker.id();  // if it is another that seals, this one has gone
  core_->mailbox.submit(detail::info_of<memory::seal>, &request, c, done.get(), nullptr, {}, {});
  detail::when_answered(done,
                        [core = core_, held = r.owner, number = begun->number, answer, by](const result<void>& how) {
                          core->memory.seals().end(*held.get(), number, static_cast<bool>(how), by);
                          answer->complete(how);
                        });
  return pending<void>(std::move(answer));
}

pending<void> device::unseal_memory(const memory_range& r) const {
  const auto begun = core_->memory.seals().begin_unseal(r);
  if (!begun) return make_ready<void>(begun.error());
  if (begun->bytes == 0) return make_ready<void>({});
  const memory::unseal request{.target = inout<std::byte>(r), .bytes = begun->bytes};
  checker c(request, owner(), generation());
  request.check(c);
  auto done = detail::new_answer(core_), answer = detail::new_answer(core_);
  const accepted sent =
      core_->mailbox.submit(detail::info_of<memory::unseal>, &request, c, done.get(), nullptr, {}, {});
  // One that replaces it meanwhile, and may have to do it, will do it by the request, too.
  core_->memory.seals().end_unseal(*r.owner.get(), sent.ticket(), core_->worker.id());
  detail::when_answered(done, [core = core_, held = r.owner, answer, refused = sent.ticket() == 0](const auto& how) {
    if (!how && !refused) core->memory.seals().unseal_was_lost(*held.get());
    answer->complete(how);
  });
  return pending<void>(std::move(answer));
}

}  // namespace troupe
