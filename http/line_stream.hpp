#pragma once
#include "http/router.hpp"
#include "http/task_thread.hpp"
#include "ops/dispatch.hpp"

#include <memory>

namespace indx {

/// Whether a request for lines means a whole list: the operation has pages, and the caller names
/// neither their size nor where to go on.
bool is_whole_list(const Call& call);

/// Answers with a whole list as NDJSON, page by page: the next page is asked for when the client
/// has taken the one before, so memory stays that of a page however long the list is and however
/// slow the client. A list that fits into one page has a length; a longer one is chunked, and an
/// error in the middle is the last line, `{"error": {code, message, details}}`. `thread` asks for
/// the later pages.
void send_lines(Dispatcher& dispatcher, Call call, bool is_chunked,
                const std::shared_ptr<TaskThread>& thread, const RequestId& id,
                const Responder& responder);

/// The list of an answer, one row a line, and behind it what is missing there for good.
std::string lines_of(const Operation& operation, const Json& data);

}  // namespace indx
