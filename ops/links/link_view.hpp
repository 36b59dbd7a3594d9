#pragma once
#include "ops/define.hpp"
#include "ops/notes/note_view.hpp"
#include "vault/link_query.hpp"

namespace indx {

/// How one link looks in lists of links.
struct LinkUseView {
  LinkView link;
  std::string context;
  static Fields<LinkUseView> fields();
};
LinkUseView view_use(const LinkUse& use);

/// The fields of a link in front of those of a row that holds one as `link`.
template <typename Row>
Fields<Row> with_link_fields(Fields<Row> own) {
  for (const auto& f : LinkView::fields())
    own.push_back({f.name, f.is_list, f.property,
                   [f](const Json& json, Row& row) { f.decode(json, row.link); },
                   [f](const Row& row) { return f.encode(row.link); }});
  return own;
}

}  // namespace indx
