// Exact nearest words by the certified scan.
#pragma once

#include "index.hpp"
#include "kernel.hpp"

namespace deniable {

// Writes the nearest word of each query; ties go to the lowest id. Words that share another's vector never win.
void nearest(const IndexView& index, const Kernel& kernel, const float* queries, std::size_t count, std::size_t threads, std::int64_t* ids);

// Writes the k nearest words of each query, nearest first, ties by id, and their distances. All words take part.
void nearest_k(const IndexView& index, const Kernel& kernel, const float* queries, std::size_t count, std::size_t k, std::size_t threads,
               std::int64_t* ids, double* distances);

}  // namespace deniable
