#include "candidates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "exact.hpp"

namespace deniable {

float rounded_down(double x) {
    const float nearest = float(x);
    return nearest > x ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}

Judge::Judge(const IndexView& index, const Kernel& kernel, const float* query, double units)
    : index_(index), kernel_(kernel), query_(query), query64_(query, query + index.layout.dimension), units_(units),
      floor_(-std::numeric_limits<double>::infinity()) {
    double squares = 0.0;
    for (const double x : query64_) squares += x * x;
    norm_ = std::sqrt(squares) * (1.0 + 1e-9);
    // A float64 sum of n products in any order is off by at most γ·Σ|aᵢbᵢ|, γ = n·u/(1 - n·u), u = 2⁻⁵³; 8 more cover
    // the rounding of the terms (see score_error in neighbours/exact.py).
    const double terms = (double(index.layout.dimension) + 8.0) * 0x1p-53;
    growth_ = terms / (1.0 - terms);
}

Judge::Score Judge::score(std::uint32_t word) const {
    const float* vector = index_.vector(word);
    // In float64, from the vector itself: the index's float32 norms lose vectors that are nothing beside the longest.
    double squares = 0.0;
    for (std::size_t i = 0; i < index_.layout.dimension; ++i) squares += double(vector[i]) * vector[i];
    const double norm = std::sqrt(squares) * (1.0 + 1e-9);
    return {kernel_.score(query64_.data(), vector, index_.layout.dimension), growth_ * norm * (norm_ + norm) + std::numeric_limits<double>::min()};
}

double Judge::in_units(double bound, double away) const {
    const double moved = (bound + away * 1e-14 * std::fabs(bound)) * units_;
    return moved + away * 1e-14 * std::fabs(moved);
}

void Judge::consider(std::uint32_t word) {
    const Score found = score(word);
    if (word_ >= 0 && !(found.value - found.error > score_ + error_)) {
        if (found.value + found.error < score_ - error_) return;
        // Float64 cannot tell the two apart.
        const int sign = compare_exactly(query_, index_.vector(word), index_.vector(std::size_t(word_)), index_.layout.dimension);
        if (sign < 0 || (sign == 0 && word > word_)) return;
    }
    word_ = word;
    score_ = found.value;
    error_ = found.error;
    floor_ = std::max(floor_, in_units(found.value - found.error, -1.0));
}

void Judge::decide(std::vector<Candidate>& candidates) {
    float reached = -std::numeric_limits<float>::infinity();
    for (const Candidate& candidate : candidates) reached = std::max(reached, candidate.lower);
    const auto end = std::partition(candidates.begin(), candidates.end(), [&](const Candidate& c) { return c.upper >= reached; });
    std::sort(candidates.begin(), end, [](const Candidate& a, const Candidate& b) { return a.upper > b.upper; });
    for (auto candidate = candidates.begin(); candidate != end && double(candidate->upper) >= floor_; ++candidate) consider(candidate->word);
}

std::vector<Judge::Ranked> Judge::contenders(std::vector<Candidate>& candidates, std::size_t k) const {
    if (candidates.size() < k) throw std::runtime_error("the index of the search is damaged: too few words survive");
    // The k-th largest lower bound is reached by k words: what cannot reach it is not among the k nearest.
    std::nth_element(candidates.begin(), candidates.begin() + std::ptrdiff_t(k - 1), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.lower > b.lower; });
    const float reached = candidates[k - 1].lower;
    std::vector<Ranked> found;
    for (const Candidate& candidate : candidates)
        if (candidate.upper >= reached)
            found.push_back({kernel_.squared_distance(query64_.data(), index_.vector(candidate.word), index_.layout.dimension), candidate.word});
    // Bounds that cross each other, which no index of ours holds: the caller takes k of what is found.
    if (found.size() < k) throw std::runtime_error("the index of the search is damaged: too few words survive");
    return found;
}

bool Judge::nearer(const Ranked& a, const Ranked& b) const {
    const double slack = 4.0 * growth_;  // the squares have a relative error of γ each; differences do not cancel
    if (std::fabs(a.square - b.square) > slack * std::max(a.square, b.square)) return a.square < b.square;
    const int sign = compare_exactly(query_, index_.vector(a.word), index_.vector(b.word), index_.layout.dimension);
    return sign > 0 || (sign == 0 && a.word < b.word);
}

void Judge::rank(std::vector<Candidate>& candidates, std::size_t k, std::int64_t* ids, double* distances) const {
    std::vector<Ranked> ranked = contenders(candidates, k);
    std::partial_sort(ranked.begin(), ranked.begin() + std::ptrdiff_t(k), ranked.end(),
                      [&](const Ranked& a, const Ranked& b) { return nearer(a, b); });
    for (std::size_t i = 0; i < k; ++i) {
        ids[i] = ranked[i].word;
        distances[i] = std::sqrt(ranked[i].square);
    }
}

void Judge::keep_nearest(std::vector<Candidate>& candidates, std::size_t k) const {
    std::vector<Ranked> found = contenders(candidates, k);
    // Not nth_element: this sort stays within its range even if the vectors change below it and the order contradicts itself.
    std::partial_sort(found.begin(), found.begin() + std::ptrdiff_t(k), found.end(), [&](const Ranked& a, const Ranked& b) { return nearer(a, b); });
    candidates.clear();
    for (std::size_t i = 0; i < k; ++i) {
        const Score exact = score(found[i].word);
        candidates.push_back({found[i].word, rounded_down(in_units(exact.value - exact.error, -1.0)), -rounded_down(-in_units(exact.value + exact.error, 1.0))});
    }
}

}  // namespace deniable
