#include "actors/ai_op.hpp"

#include <caf/typed_event_based_actor.hpp>

namespace indx {

AiOpActor::behavior_type ai_op(AiOpActor::pointer /*self*/, Parts* parts) {
  return {
      [parts](atom::model_atom, const ModelCall& call) -> ModelReply {
        return {parts->provider->generate(call.request, call.cancel)};
      },
  };
}

}  // namespace indx
