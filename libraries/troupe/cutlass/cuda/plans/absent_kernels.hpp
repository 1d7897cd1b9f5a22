// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <troupe/cutlass/variants/signature.hpp>
#include <unordered_set>

namespace troupe::cutlass {

/// The kernels that an engine has looked for and not found: writing a kernel's text and looking for it on disk is slow,
/// and a product of a new size needs dozens of look-ups. Thread-safe.
class absent_kernels {
 public:
  /// The absent kernels with one signature. Plans that differ only in the order of tiles have the same kernel.
  class with_signature {
   public:
    with_signature(absent_kernels& all, const kernel_signature& f) : all_(all) {
      std::string key;
      f.write_key(key);
      signature_hash_ = std::hash<std::string>()(key);
    }
    bool contains(const plan& p) const {
      const std::scoped_lock guard(all_.lock_);
      return all_.hashes_.contains(hash_of(p));
    }
    void add(const plan& p) const {
      constexpr std::size_t most = 1 << 16;
      const std::scoped_lock guard(all_.lock_);
      if (all_.hashes_.size() == most) all_.hashes_.clear();
      all_.hashes_.insert(hash_of(p));
    }
    void remove(const plan& p) const {
      const std::scoped_lock guard(all_.lock_);
      all_.hashes_.erase(hash_of(p));
    }

   private:
    std::size_t hash_of(plan p) const {
      p.raster = raster::any, p.band = 0;
      const std::hash<std::string_view> hash;
      return signature_hash_ * 31 + hash({reinterpret_cast<const char*>(&p), sizeof p});
    }
    absent_kernels& all_;
    std::size_t signature_hash_ = 0;
  };

 private:
  std::mutex lock_;
  std::unordered_set<std::size_t> hashes_;
};

}  // namespace troupe::cutlass
