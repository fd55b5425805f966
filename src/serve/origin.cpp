#include "serve/origin.h"

#include <utility>

namespace tlstrata::serve {

Checked<Origin> Origin::start(const OriginOptions& options) {
  auto service = Service<Connection>::start(options.listen, options.threads,
                                            [&options]() -> Checked<std::unique_ptr<Connection::Thread>> {
                                              auto thread = std::make_unique<Connection::Thread>();
                                              thread->limits = options.limits;
                                              thread->delays_fd = options.delays_fd;
                                              if (options.tls) {
                                                auto context = ossl::ServerContext::create(*options.tls);
                                                if (!context) {
                                                  return std::unexpected(context.error());
                                                }
                                                thread->tls.emplace(std::move(*context));
                                              }
                                              return thread;
                                            });
  if (!service) {
    return std::unexpected(service.error());
  }
  return Origin(std::move(*service));
}

}  // namespace tlstrata::serve
