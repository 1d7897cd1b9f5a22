// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/onednn/kernel_maker.hpp>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/onednn/convolution_matches.hpp>
#include <troupe/dnn/onednn/threads.hpp>

namespace troupe::dnn::onednn {
namespace {

error failed(const char* call, dnnl_status_t status) {
  if (status == dnnl_out_of_memory)
    return error::retry_later("dnn", ENOMEM, cat(call, " failed: oneDNN is out of memory"));
  return error(reaction::fatal, "dnn", cat(call, " of oneDNN returned status ", static_cast<int>(status)));
}

class onednn_kernel final : public vendor_kernel {
 public:
  onednn_kernel(convolution_match m, dnnl_engine_t on, int threads)
      : vendor_kernel(std::move(m.match)), primitives_(std::move(m.primitives)), on_(on), threads_(threads) {}
  result<void> enqueue(std::span<void* const> addresses, void* workspace, call&) const override {
    // Primitives are made for a number of threads, and OpenMP stores that number for each calling thread.
    const threads in_use(threads_);
    dnnl_stream_t made = nullptr;
    if (const auto s = calls().create_stream(&made, on_, dnnl_stream_default_flags); s != dnnl_success)
      return failed("dnnl_stream_create", s);
    const stream in(made);
    if (const auto s = primitives_.run(made, addresses, static_cast<std::byte*>(workspace)); s != dnnl_success)
      return failed("dnnl_primitive_execute", s);
    return {};
  }

 private:
  const primitive_list primitives_;
  const dnnl_engine_t on_;
  const int threads_;
};

class onednn_kernel_maker final : public kernel_maker {
 public:
  onednn_kernel_maker(engine on, int threads, bool ignore_costs)
      : on_(std::move(on)), threads_(threads), ignore_costs_(ignore_costs) {
    const dnnl_version_t& v = *calls().version();
    version_ = cat("oneDNN ", v.major, ".", v.minor, ".", v.patch);
  }
  const std::string& version() const noexcept override { return version_; }

  std::vector<std::unique_ptr<vendor_kernel>> make_kernels(const encoded_graph& g, std::uint64_t workspace) override {
    calls().set_threads(threads_);
    std::vector<std::unique_ptr<vendor_kernel>> out;
    for (convolution_match& m :
         find_convolutions(on_.get(), g, {.workspace = workspace, .ignore_costs = ignore_costs_}))
      out.push_back(std::make_unique<onednn_kernel>(std::move(m), on_.get(), threads_));
    return out;
  }

 private:
  const engine on_;
  const int threads_;
  const bool ignore_costs_;
  std::string version_;
};

}  // namespace

result<std::unique_ptr<kernel_maker>> kernel_maker::open(std::size_t threads) {
  const char* const named = ::secure_getenv("TROUPE_ONEDNN");
  const std::string_view setting = named != nullptr ? named : "";
  if (setting == "off") return error(reaction::unsupported, "dnn", "oneDNN is not used: TROUPE_ONEDNN is off");
  TROUPE_TRY(load());
  const dnnl_version_t& v = *calls().version();
  if (v.major != 2 || v.minor < 6)
    return error(reaction::unsupported, "dnn",
                 cat("oneDNN is not used: version ", v.major, ".", v.minor, " is not supported; install 2.6 or 2.7"));
  dnnl_engine_t made = nullptr;
  if (const auto s = calls().create_engine(&made, dnnl_cpu, 0); s != dnnl_success)
    return failed("dnnl_engine_create", s);
  return std::unique_ptr<kernel_maker>(
      std::make_unique<onednn_kernel_maker>(engine(made), static_cast<int>(threads), setting == "always"));
}

}  // namespace troupe::dnn::onednn
