#include "ai/providers/anthropic.hpp"
#include "ai/providers/gemini.hpp"
#include "ai/providers/ollama.hpp"
#include "ai/providers/openai.hpp"
#include "tests/fuzz/claims.hpp"

/// Input: sizes of the pieces, one a byte; the bytes of a model server's answer. Its events do not
/// depend on the pieces, hold no line breaks of lines, and each format reads whatever is in them.

namespace indx::fuzz {
namespace {

std::vector<StreamEvent> read_all(StreamFraming framing, std::string_view bytes,
                                  std::string_view sizes) {
  StreamReader reader(framing);
  std::vector<StreamEvent> all;
  for (std::size_t at = 0, turn = 0; at < bytes.size(); ++turn) {
    const auto size = sizes.empty()
                          ? bytes.size()
                          : static_cast<std::size_t>(
                                static_cast<unsigned char>(sizes[turn % sizes.size()]) % 16) +
                                1;
    for (auto& event : reader.feed(bytes.substr(at, size))) all.push_back(std::move(event));
    CLAIM(reader.pending_bytes() <= at + size);
    at += size;
  }
  for (auto& event : reader.finish()) all.push_back(std::move(event));
  return all;
}

void read_answers(const WireFormat& format, const std::vector<StreamEvent>& events) {
  ModelAnswer streamed;
  for (const auto& event : events) {
    const auto data = parse_body(event.data);
    if (!data || format.is_end(event)) continue;
    const auto text = streamed.text.size(), arguments = streamed.arguments.size();
    format.read_event(*data, streamed);
    CLAIM(streamed.text.size() >= text && streamed.arguments.size() >= arguments);
    ModelAnswer whole;
    format.read_answer(*data, whole);
    CLAIM(is_valid_utf8(whole.text) && is_valid_utf8(whole.arguments));
    CLAIM(whole.input_tokens.value_or(0) >= 0 && whole.output_tokens.value_or(0) >= 0);
    format.read_failure(*data);
    format.read_models(*data);
    format.read_embeddings(*data);
    format.read_embedded_tokens(*data);
  }
  CLAIM(is_valid_utf8(streamed.text) && is_valid_utf8(streamed.arguments));
}

void check(const Parts& parts) {
  const auto sizes = parts[0], bytes = parts[1];
  for (const auto framing : {StreamFraming::ServerSentEvents, StreamFraming::Lines}) {
    const auto events = read_all(framing, bytes, "");
    CLAIM(events == read_all(framing, bytes, sizes));
    for (const auto& event : events) {
      CLAIM(event.event.find_first_of("\r\n") == event.event.npos);
      CLAIM(event.data.find('\r') == event.data.npos);
    }
    const Upstream upstream{"p", "http://127.0.0.1", "m", "k", ""};
    for (const auto& format :
         {make_openai_format(upstream, "json_schema"), make_ollama_format(upstream),
          make_anthropic_format(upstream), make_gemini_format(upstream)})
      read_answers(*format, events);
  }
}

}  // namespace
}  // namespace indx::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  indx::fuzz::check(indx::fuzz::Parts(FUZZ_INPUT(data, size)));
  return 0;
}
