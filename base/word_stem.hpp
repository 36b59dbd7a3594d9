#pragma once
#include <string>

namespace indx {

/// A folded English word in the singular: `stories` gives `story`, `boxes` `box`, `notes` `note`;
/// `class`, `analysis` and `status` stay.
std::string singular(std::string word);

/// A folded word without the endings of plain English inflection, so that `pruned`, `pruning` and
/// `prunes` are the same. A key to compare by, seldom a word.
std::string word_stem(std::string word);

}  // namespace indx
