#pragma once
#include "base/file_bytes.hpp"
#include "http/router.hpp"

#include <memory>

namespace indx {

/// What a request for a file says about conditions and parts; taken before the request is gone.
struct FileConditions {
  bool is_get = true;
  std::string if_match, if_none_match, if_modified_since, if_unmodified_since, if_range, range;
};
FileConditions file_conditions(const HttpRequest& request);

/// The bytes of a file with its validators, whole or in parts: 200, 206, 304, 412 or 416 (RFC
/// 9110, 13 and 14). `data` is the output that came with it: `path`, `etag`, `modified`,
/// `media_type`, each where the operation gives it. What could run as a page is sent as a
/// download.
HttpResponse file_response(const Json& data, std::shared_ptr<const FileBytes> file,
                           const FileConditions& conditions, const RequestId& id);

/// Whether an If-None-Match or If-Match header names the etag; weakly (`W/` counts) or not.
bool names_etag(const std::string& header, const std::string& etag, bool is_weak);

}  // namespace indx
