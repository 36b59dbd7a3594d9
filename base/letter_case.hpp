#pragma once

namespace indx {

/// The capital letter, where one letter is one letter (`ß` stays).
char32_t upper_letter(char32_t c);

}  // namespace indx
