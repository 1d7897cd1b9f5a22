// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/files/bytes.hpp>
#include <troupe/base/hash/digest.hpp>
#include <troupe/cuda_on_host/seal.hpp>

#include <cstring>

namespace troupe::cuda_on_host {
namespace {

// A seal is first_word, the names of the processor's features, their length in bytes, the digest of everything before
// the digest, and last_word.
constexpr std::uint64_t first_word = 0x316c616553707254, last_word = 0x5472705365616c31;  // "TrpSeal1", and reversed
constexpr std::size_t end_bytes = sizeof(std::uint64_t) + sizeof(digest) + sizeof last_word,
                      least_bytes = sizeof first_word + end_bytes;

std::uint64_t word_at(std::string_view bytes, std::size_t at) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string sealed(std::string object, std::string_view processor) {
  byte_writer seal;
  seal.value(first_word);
  seal.raw(processor.data(), processor.size());
  seal.value(static_cast<std::uint64_t>(processor.size()));
  object += seal.bytes();
  const digest d = digest_of(object);
  object.append(reinterpret_cast<const char*>(d.data()), d.size());
  object.append(reinterpret_cast<const char*>(&last_word), sizeof last_word);
  return object;
}

result<std::optional<seal>> read_seal(std::span<const std::byte> bytes, const std::string& name) {
  const std::string_view all = text_of(bytes);
  if (all.size() < least_bytes || word_at(all, all.size() - sizeof last_word) != last_word)
    return std::optional<seal>();
  const std::size_t end = all.size() - end_bytes;
  const std::string_view before_digest = all.substr(0, end + sizeof(std::uint64_t));
  const digest d = digest_of(before_digest);
  const std::uint64_t text_bytes = word_at(all, end);
  if (std::memcmp(d.data(), all.data() + before_digest.size(), d.size()) != 0 || text_bytes > end - sizeof first_word ||
      word_at(all, end - text_bytes - sizeof first_word) != first_word)
    return error(reaction::caller_bug, "kernel",
                 "image '" + name + "' is damaged: its digest does not match its bytes; compile it again");
  const std::size_t begin = end - text_bytes - sizeof first_word;
  return std::optional<seal>({bytes.first(begin), all.substr(begin + sizeof first_word, text_bytes)});
}

bool begins_a_seal(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= sizeof first_word && word_at(text_of(bytes), 0) == first_word;
}

}  // namespace troupe::cuda_on_host
