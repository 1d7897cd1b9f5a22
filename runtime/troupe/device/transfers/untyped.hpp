// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/async/pending.hpp>
#include <troupe/device/alloc_options.hpp>
#include <troupe/device/asked.hpp>
#include <troupe/device/options.hpp>
#include <troupe/request/block.hpp>
#include <troupe/request/extent.hpp>

namespace troupe {

class device;

/// The typed functions of `device` as functions of bytes: compiled once instead of for each element type.
namespace detail {

struct device_access;

memory_range alloc(const device& gpu, extent count, std::size_t element_bytes, const alloc_options& o);
memory_range alloc_host(const device& gpu, extent count, std::size_t element_bytes, const alloc_options& o);

pending<void> upload(const device& gpu, const memory_range& to, std::span<const std::byte> from, const call_options& o);
pending<void> upload(const device& gpu, const memory_range& to, const memory_range& from, const call_options& o);
pending<void> download(const device& gpu, const memory_range& from, std::span<std::byte> to, const call_options& o);
pending<void> download(const device& gpu, const memory_range& from, const memory_range& to, const call_options& o);
pending<void> copy(const device& gpu, const memory_range& to, const memory_range& from, const call_options& o);
pending<void> fill(const device& gpu, const memory_range& to, std::span<const std::byte> pattern,
                   const call_options& o);

/// The core of a download. Calls `where` for memory for that many bytes as soon as the data can be copied (null: there
/// is no memory), and calls `finish` once, with the error if there is one.
using download_place = std::byte* (*)(pending_core& state, std::size_t bytes) noexcept;
using download_finish = void (*)(pending_core& state, const error* why) noexcept;
void download(const device& gpu, const memory_range& from, pending_core& state, request_link& link,
              download_place where, download_finish finish, const call_options& o);

}  // namespace detail
}  // namespace troupe
