#pragma once
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include <deque>

#include "actors/state_actor.hpp"

namespace indx {

/// Group commit: changes gather until the actor's own `commit` message arrives behind them; one sync serves all.
struct StateActorState {
  explicit StateActorState(StateActor::pointer self_pointer) : self(self_pointer) {}

  void gather(StateChange change, caf::typed_response_promise<Reply> promise);
  void commit();
  void serve_claims();
  void tick();
  void publish();

  StateActor::pointer self;
  StateActorConfig config;
  std::unique_ptr<State> state;
  std::vector<std::pair<StateChange, caf::typed_response_promise<Reply>>> pending;
  std::deque<caf::typed_response_promise<Claimed>> claims;
  bool is_commit_sent = false;
  bool is_draining = false;
  std::chrono::nanoseconds next_prune{0};
  inline static const char* name = "state";
};

}  // namespace indx
