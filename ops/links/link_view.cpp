#include "ops/links/link_view.hpp"

namespace indx {

Fields<LinkUseView> LinkUseView::fields() {
  return with_link_fields<LinkUseView>(
      {field("context", &LinkUseView::context, "The line that holds it.")});
}

LinkUseView view_use(const LinkUse& use) { return {view_link(use.link), use.context}; }

}  // namespace indx
