// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/memory/copying/staging.hpp>
#include <troupe/memory/requests.hpp>

namespace troupe::memory {
namespace {

template <class R>
void check_copy(const R& r, checker& c) {
  c.at_least(r.bytes, 0);
  c.elements(r.source, r.bytes);
  c.elements(r.target, r.bytes);
}

template <class Operand>
void check_bytes(checker& c, const Operand& field, const extent& bytes) {
  c.positive(bytes);
  c.elements(field, bytes);
}

}  // namespace

void copy::check(checker& c) const { check_copy(*this, c); }
void upload::check(checker& c) const { check_copy(*this, c); }
void download::check(checker& c) const { check_copy(*this, c); }

void copy_2d::check(checker& c) const {
  c.at_least(width, 0);
  c.at_least(rows, 0);
  c.matrix(source, width, rows, c.leading(source_pitch, width));
  c.matrix(target, width, rows, c.leading(target_pitch, width));
}

void fill::check(checker& c) const {
  c.at_least(bytes, 0);
  c.elements(target, bytes);
  c.require(pattern_bytes >= 1 && pattern_bytes <= 16 && bytes.value() % pattern_bytes.value() == 0, bytes,
            "is not a multiple of the pattern", "a whole number of patterns of 1 to 16 bytes");
}

void stream_in::check(checker& c) const {
  check_bytes(c, target, bytes);
  c.elements(progress, sizeof(staging_header));
}

void peer_show::check(checker& c) const { check_bytes(c, source, bytes); }
void peer_take::check(checker& c) const { check_bytes(c, target, bytes); }
void peer_send::check(checker& c) const { check_bytes(c, source, bytes); }
void peer_receive::check(checker& c) const { check_bytes(c, target, bytes); }

void seal::check(checker& c) const { c.positive(bytes); }

void unseal::check(checker& c) const {
  c.positive(bytes);
  c.may_write_sealed();
}

void lend::check(checker& c) const { check_bytes(c, target, bytes); }
void show::check(checker& c) const { check_bytes(c, source, bytes); }
void take_back::check(checker& c) const { check_bytes(c, target, bytes); }
void stream_out::check(checker& c) const { check_bytes(c, source, bytes); }

}  // namespace troupe::memory
