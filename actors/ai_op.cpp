#include "actors/ai_op.hpp"

#include <caf/actor_system.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace indx {
namespace {

AiOpActor::behavior_type ai_op(AiOpActor::pointer /*self*/, Parts* parts) {
  return {
      [parts](atom::model_atom, const ModelCall& call) -> ModelReply {
        auto& provider = *parts->provider;
        return {call.on_delta ? provider.generate_stream(call.request, call.cancel, call.on_delta)
                              : provider.generate(call.request, call.cancel)};
      },
  };
}

}  // namespace

AiOpActor spawn_ai_op(caf::actor_system& system, Parts* parts) {
  return system.spawn<caf::detached>(ai_op, parts);
}

}  // namespace indx
