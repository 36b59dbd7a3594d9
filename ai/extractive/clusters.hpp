#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace indx {

/// Numbers of one text by feature, in order of features; of length 1 (L2), or empty.
using FeatureVector = std::vector<std::pair<std::uint32_t, float>>;

/// Log-TF-IDF of the content words within these texts; a word that only one text holds tells
/// nothing of its neighbours and has no feature.
std::vector<FeatureVector> tf_idf_vectors(const std::vector<std::string>& texts);
FeatureVector feature_vector(std::span<const float> vector);

/// The cluster of each vector, numbered from 0 in order of their first members. Clusters are joined
/// by the mean cosine of their members (average link; Sokal and Michener 1958, by the chain of
/// nearest neighbours), and cut where the mean silhouette is largest (Rousseeuw 1987), into `most`
/// at the most; one cluster where no cut is better than none. Of more than 1,500 vectors that many,
/// evenly spread, are clustered, and each of the others goes to the nearest mean. Deterministic;
/// time and memory grow with the square of the number, up to that bound.
std::vector<std::size_t> topic_clusters(const std::vector<FeatureVector>& vectors,
                                        std::size_t most);

/// For each cluster up to `limit` words or pairs of words that set it apart from the others, best
/// first, as they were first written: class-based TF-IDF (Grootendorst: "BERTopic: Neural topic
/// modeling with a class-based TF-IDF procedure", 2022, section 3.3). `clusters[i]` is that of
/// `texts[i]`. No two terms of a cluster share a word; empty where a cluster's texts say nothing.
std::vector<std::vector<std::string>> cluster_terms(const std::vector<std::string>& texts,
                                                    const std::vector<std::size_t>& clusters,
                                                    std::size_t limit);

}  // namespace indx
