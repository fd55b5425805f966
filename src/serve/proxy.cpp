#include "serve/proxy.h"

#include <utility>

namespace tlstrata::serve {
namespace {

Checked<std::unique_ptr<Relay::Thread>> make_thread(const ProxyOptions& options) {
  auto thread = std::make_unique<Relay::Thread>();
  thread->limits = options.limits;
  thread->upstream = options.upstream;
  thread->most_idle = options.most_idle;
  thread->upstream_timeout_ns = options.upstream_timeout_ns;
  if (options.tls) {
    auto context = ossl::ServerContext::create(*options.tls);
    if (!context) {
      return std::unexpected(context.error());
    }
    thread->tls.emplace(std::move(*context));
  }
  if (options.upstream_tls) {
    auto context = ossl::ClientContext::create(*options.upstream_tls);
    if (!context) {
      return std::unexpected(context.error());
    }
    thread->upstream_tls.emplace(std::move(*context));
  }
  return thread;
}

}  // namespace

Checked<Proxy> Proxy::start(const ProxyOptions& options) {
  auto service = Service<Relay>::start(options.listen, options.threads, [&options] { return make_thread(options); });
  if (!service) {
    return std::unexpected(service.error());
  }
  return Proxy(std::move(*service));
}

}  // namespace tlstrata::serve
