// Building the packed index, and reading it.
#pragma once

#include "layout.hpp"

namespace deniable {

// A packed index together with the vectors it was built from. Owns nothing.
//
// The index may be mapped from a file that somebody changes while it is in use. So nothing read from it is a position or a
// size: those come from the layout, which comes from the shape of the vectors. Its numbers only decide which words are
// looked at, and whoever takes a word from it asks is_word first.
struct IndexView {
    Layout layout;
    const unsigned char* data;
    const float* vectors;
    double factor;  // the vectors in the index are the embedding's times this power of two

    bool is_word(std::size_t id) const { return id < layout.words; }
    const TileHead* heads() const { return reinterpret_cast<const TileHead*>(data + layout.heads_at); }
    const std::int8_t* codes() const { return reinterpret_cast<const std::int8_t*>(data + layout.codes_at); }
    const float* vector(std::size_t word) const { return vectors + word * layout.dimension; }
};

// Fills `data` (layout.bytes, aligned to kAlignment). shadowed[word] is nonzero where the word shares another's vector.
// Throws std::invalid_argument if a vector is not finite.
void build_index(const Layout& layout, const float* vectors, const std::uint8_t* shadowed, unsigned char* data, std::size_t threads);

// Whether `data` is what build_index would fill in for these vectors: every tile is made again and compared.
bool is_index_of(const Layout& layout, const float* vectors, const std::uint8_t* shadowed, const unsigned char* data, std::size_t threads);

// A checksum that notices damage on disk, at the speed of memory. No protection against intent.
std::uint64_t checksum(const unsigned char* data, std::size_t bytes);

}  // namespace deniable
