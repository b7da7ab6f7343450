// Queries made ready for the scan: quantised, packed into lanes, with the numbers that bound the error of every score.
#pragma once

#include <vector>

#include "index.hpp"
#include "kernel.hpp"

namespace deniable {

// An array whose data begins at a cache line.
template <class T>
class Aligned {
  public:
    explicit Aligned(std::size_t count, T value = T()) : storage_(count + kAlignment / sizeof(T), value) {
        const std::size_t over = reinterpret_cast<std::uintptr_t>(storage_.data()) % kAlignment;
        begin_ = storage_.data() + (over ? (kAlignment - over) / sizeof(T) : 0);
    }
    Aligned(const Aligned&) = delete;
    Aligned& operator=(const Aligned&) = delete;
    T* data() { return begin_; }
    const T* data() const { return begin_; }
    T& operator[](std::size_t i) { return begin_[i]; }
    const T& operator[](std::size_t i) const { return begin_[i]; }

  private:
    std::vector<T> storage_;
    T* begin_;
};

// Queries that are scanned together, in blocks of as many as the kernel takes at once.
class QueryBatch {
  public:
    QueryBatch(const IndexView& index, const Kernel& kernel, const float* queries, std::size_t count);

    std::size_t count() const { return count_; }
    std::size_t blocks() const { return blocks_.size(); }
    std::size_t block_of(std::size_t b) const { return blocks_[b].first; }
    ScanJob job(std::size_t block);

    float threshold(std::size_t query) const { return threshold_[query]; }
    void raise(std::size_t query, float threshold) {
        if (threshold > threshold_[query]) threshold_[query] = threshold;
    }

    Look look(std::size_t query) const;
    // What turns a score of the original vectors into the units of the scan.
    double units(std::size_t query) const { return units_[query]; }

  private:
    struct Block {
        std::size_t first;
        int vectors;
    };
    void prepare(const IndexView& index, const float* query, std::size_t at);

    const Kernel& kernel_;
    std::size_t count_, row_bytes_, lanes_;
    std::vector<Block> blocks_;
    Aligned<std::uint8_t> codes_, packed_;
    Aligned<float> inverse_step_, per_norm_, per_residual_, per_half_, least_, threshold_;
    std::vector<double> units_;
};

}  // namespace deniable
