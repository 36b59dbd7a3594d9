#pragma once
#include "ops/dispatch.hpp"

#include <memory>
#include <string>
#include <vector>

namespace indx {

/// A server that answers instead of this process.
struct RemoteTarget {
  std::string base;   ///< `http://127.0.0.1:8080` or `unix:/vault/.indx/socket:`
  std::string token;  ///< empty: none is sent
};

/// Calls of the registry over REST (operation.route), answers and errors as the local dispatcher
/// gives them. Thread-safe. A call that is to be kept goes on as a job over there when it is long;
/// one with `progress` streams.
std::unique_ptr<Dispatcher> make_remote_dispatcher(Registry registry, RemoteTarget target);

}  // namespace indx
