// What one instruction set offers to the search. Each scan_*.cpp fills one Kernel.
//
// The files that implement kernels are compiled for instructions that the machine may not have. They include nothing
// but this header, intrinsics and C headers: an inline function of the standard library, compiled there, could be the
// copy that the linker keeps for everybody.
#pragma once

#include "layout.hpp"

namespace deniable {

// A tile that may hold a winner, for the queries whose bit is set.
struct Survivor {
    std::uint32_t tile, vector, lanes;
};

constexpr std::size_t kGroupsBehind = 15;

// One block of queries against a range of tiles. Queries are lanes of vector registers: block size = vectors * lanes.
struct ScanJob {
    const TileHead* heads;
    const std::int8_t* codes;
    std::size_t groups, tile_begin, tile_end;
    bool with_shadowed;     // include words that share another's vector
    bool raise_threshold;   // the best lower bound seen is a threshold (false for more than one neighbour)
    int vectors;
    const std::uint8_t* packed;  // [group][vector][lane][4], and kGroupsBehind more groups may be read
    // Per query. A score is integer_dot * scale - half * inverse_step; the others multiply norm, residual and half of a
    // tile and add up to the error that no score in it exceeds (see query.cpp for the proof).
    const float *inverse_step, *per_norm, *per_residual, *per_half, *least;
    float* threshold;
    Survivor* survivors;  // room for (tile_end - tile_begin) * vectors
    std::int8_t* room;    // what the kernel asks for, at a multiple of kAlignment
};

// One query against the eight words of one tile: their scores and errors, each with the word's own bound.
struct Look {
    const TileHead* head;
    const std::int8_t* codes;  // of the tile
    const std::uint8_t* query;
    std::size_t groups;
    bool with_shadowed;
    float inverse_step, per_norm, per_residual, per_half, least, threshold;
    float scores[kTileWords], errors[kTileWords];  // the answer
};

struct Kernel {
    const char* name;
    int lanes, most_vectors;
    int code_limit;  // queries are quantised to -code_limit .. code_limit
    int offset;      // and stored with this added, so that they are unsigned
    std::size_t (*scan)(const ScanJob&);  // returns the number of survivors
    std::uint32_t (*look)(Look&);         // returns the words, as bits, that reach the threshold
    // <q, v> - |v|^2 / 2 and |q - v|^2 in float64.
    double (*score)(const double* query, const float* vector, std::size_t dimension);
    double (*squared_distance)(const double* query, const float* vector, std::size_t dimension);
    // Runs the multiply instruction on registers alone; returns the number of multiply-adds done.
    double (*peak)(std::uint64_t rounds);
    std::size_t room = 0;  // bytes of working memory for each group, and for 16 groups more
};

const Kernel* kernel_amx();  // null where the file was compiled without its instructions
const Kernel* kernel_avx512vnni();
const Kernel* kernel_avx2();
const Kernel* kernel_neon();
const Kernel* kernel_portable();

}  // namespace deniable

// What stands in place of a kernel where its file is compiled without its instructions.
#define DENIABLE_LEFT_OUT(name) namespace deniable { const Kernel* name() { return nullptr; } }
