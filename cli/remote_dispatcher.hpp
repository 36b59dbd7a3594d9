#pragma once
#include "ops/dispatch.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace indx {

/// A server that answers instead of this process.
struct RemoteTarget {
  std::string base;   ///< `http://127.0.0.1:8080` or `unix:/vault/.indx/socket:`
  std::string token;  ///< empty: none is sent
  /// Where nobody takes calls: waits for somebody who does, or sees to it. False: there is no hope.
  /// Calls that were not taken are made again then.
  std::function<bool(const CancelToken&)> revive = {};
};

/// Calls of the registry over REST (operation.route), answers and errors as the local dispatcher
/// gives them. Thread-safe. A call that is to be kept goes on as a job over there when it is long;
/// one with `progress` streams.
std::unique_ptr<Dispatcher> make_remote_dispatcher(Registry registry, RemoteTarget target);

}  // namespace indx
