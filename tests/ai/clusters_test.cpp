#include "ai/extractive/clusters.hpp"

#include "base/text.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace indx {
namespace {

std::vector<std::string> garden_and_bread() {
  return {"Rose pruning. Prune roses in spring before the buds swell, with sharp shears.",
          "Sourdough bread. Flour, water and sourdough make bread; the dough rests a night.",
          "Rose compost. Compost feeds roses; rose pruning leaves make compost in spring.",
          "Baking bread. Bread bakes in a hot oven; the sourdough dough rises with flour.",
          "Planting roses. Roses want compost and sun; rose pruning begins in their second spring.",
          "Flour for bread. Rye flour makes dark bread with sourdough and little dough tension."};
}
using Labels = std::vector<std::size_t>;

/// Points on a line of a plane, by angle in degrees.
FeatureVector at_angle(double degrees) {
  const auto radians = degrees * 3.14159265358979 / 180;
  const std::vector<float> both = {static_cast<float>(std::cos(radians)),
                                   static_cast<float>(std::sin(radians))};
  return feature_vector(both);
}

}  // namespace

TEST_CASE("notes about the same are one cluster, numbered in order", "[ai]") {
  const auto vectors = tf_idf_vectors(garden_and_bread());

  CHECK(topic_clusters(vectors, 4) == Labels{0, 1, 0, 1, 0, 1});
  CHECK(topic_clusters(vectors, 1) == Labels(6, 0));
}

TEST_CASE("average link joins by the mean of all pairs, as worked out by hand", "[ai]") {
  // Angles 0, 10 and 25 lie together, 80 and 90 too. Single link would cut 25 from neither.
  const std::vector<FeatureVector> vectors = {at_angle(0), at_angle(90), at_angle(10), at_angle(80),
                                              at_angle(25)};

  CHECK(topic_clusters(vectors, 2) == Labels{0, 1, 0, 1, 0});
  CHECK(topic_clusters(vectors, 5) == Labels{0, 1, 0, 1, 0});  // the silhouette is best at two
}

TEST_CASE("what cannot be told apart is one cluster", "[ai]") {
  CHECK(topic_clusters({}, 5).empty());
  CHECK(topic_clusters({at_angle(0), at_angle(90)}, 5) == Labels{0, 0});
  CHECK(topic_clusters(std::vector<FeatureVector>(8, at_angle(30)), 5) == Labels(8, 0));
  CHECK(topic_clusters(std::vector<FeatureVector>(8), 5) == Labels(8, 0));  // no words at all
}

TEST_CASE("more notes than can be compared go to the nearest cluster", "[ai]") {
  std::vector<FeatureVector> vectors;
  for (int i = 0; i < 3100; ++i) vectors.push_back(at_angle(i % 2 == 0 ? i % 5 : 85 + i % 5));

  const auto labels = topic_clusters(vectors, 3);

  REQUIRE(labels.size() == vectors.size());
  CHECK(std::set<std::size_t>(labels.begin(), labels.end()).size() == 2);
  for (std::size_t i = 0; i < labels.size(); ++i) CHECK(labels[i] == i % 2);
}

TEST_CASE("a cluster is named by what sets it apart", "[ai]") {
  const auto terms = cluster_terms(garden_and_bread(), {0, 1, 0, 1, 0, 1}, 2);

  REQUIRE(terms.size() == 2);
  REQUIRE_FALSE(terms[0].empty());
  REQUIRE_FALSE(terms[1].empty());
  const auto garden = join(terms[0], " "), bread = join(terms[1], " ");
  INFO(garden << " / " << bread);
  CHECK((garden.find("ose") != std::string::npos || garden.find("ompost") != std::string::npos));
  CHECK((bread.find("read") != std::string::npos || bread.find("dough") != std::string::npos ||
         bread.find("lour") != std::string::npos));
  CHECK(cluster_terms({}, {}, 2).empty());
  CHECK(cluster_terms({"the of and", "and or"}, {0, 0}, 2)[0].empty());
}

TEST_CASE("terms of a cluster share no word, and one loud note does not name it", "[ai]") {
  std::vector<std::string> texts = {"Budget review. The budget review of March.",
                                    "Budget review. The budget review of April.",
                                    "Budget review. Zebra. Zebra. Zebra. Zebra. Zebra. Zebra."};
  const auto terms = cluster_terms(texts, {0, 0, 0}, 3)[0];

  REQUIRE_FALSE(terms.empty());
  CHECK(terms[0] == "Budget review");
  CHECK(std::find(terms.begin(), terms.end(), "review") == terms.end());
  CHECK(terms[0] != "Zebra");
}

}  // namespace indx
