#pragma once

#include "libsync/journal.hpp"

#include <string>
#include <string_view>
#include <vector>

/// How the store writes down what units remember of their URLs.
namespace purgatory {

std::string encode_memory(const pair_memory& memory);

/// The reverse of `encode_memory`. Throws std::runtime_error for other text.
pair_memory decode_memory(std::string_view text);

std::string encode_urls(const std::vector<verdict_record::failed_url>& urls);

/// The reverse of `encode_urls`. Throws std::runtime_error for other text.
std::vector<verdict_record::failed_url> decode_urls(std::string_view text);

/// The class with that number. Throws std::runtime_error if there is none.
fetch_class class_from(std::int64_t number);

} // namespace purgatory
