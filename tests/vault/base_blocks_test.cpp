#include "vault/base_blocks.hpp"

#include <catch2/catch.hpp>

namespace indx {

TEST_CASE("base blocks of a note are found wherever a code block may stand", "[vault][A56]") {
  const auto blocks = base_blocks(
      "---\na: 1\n---\ntext\n```base\nviews:\n  - name: A\n\n    limit: 1\n```\n"
      "> ~~~~ base\n> views:\n>   - name: B\n> ```\n> ~~~~\n\n"
      "- item\n  ```base {x}\n  views:\n    - name: C\n  ```\n\n"
      "   ```base\n   a: 1\n  b: 2\n   ```\n"
      "```base\nopen: 1\n");

  REQUIRE(blocks.size() == 5);
  CHECK(blocks[0].text == "views:\n  - name: A\n\n    limit: 1\n");
  CHECK(blocks[0].line == 5);
  CHECK(blocks[1].text == "views:\n  - name: B\n```\n");
  CHECK(blocks[1].line == 11);
  CHECK(blocks[2].text == "views:\n  - name: C\n");
  CHECK(blocks[3].text == "a: 1\nb: 2\n");
  CHECK(blocks[4].text == "open: 1\n");
}

TEST_CASE("other code is no base block", "[vault][A56]") {
  CHECK(base_blocks("").empty());
  CHECK(base_blocks("base\n\n```\nbase\n```\n").empty());
  CHECK(base_blocks("```bases\n```\n\n```Base\n```\n\n``base``\n").empty());
  CHECK(base_blocks("x\n\n    ```base\n    a: 1\n    ```\n\n\t```base\n").empty());
  CHECK(base_blocks("````md\n```base\n```\n````\n").empty());
  CHECK(base_blocks("---\na: |\n  ```base\n  ```\n---\n").empty());
  CHECK(base_blocks("```base\n```\r\n").at(0).text.empty());
}

}  // namespace indx
