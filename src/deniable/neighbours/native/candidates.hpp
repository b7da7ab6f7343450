// The words that may be among a query's nearest, and the decision between them.
#pragma once

#include <vector>

#include "index.hpp"
#include "kernel.hpp"

namespace deniable {

// A word whose true score, in the units of the scan, lies between two bounds.
struct Candidate {
    std::uint32_t word;
    float lower, upper;
};

// The largest float32 that is no larger.
float rounded_down(double x);

// One query in float64, for the scores that decide.
class Judge {
  public:
    Judge(const IndexView& index, const Kernel& kernel, const float* query, double units);

    // Takes the word as the best if it is nearer than the best so far, or as near with a lower id.
    void consider(std::uint32_t word);
    // Considers the candidates, most promising first, leaving out those that cannot win any more.
    void decide(std::vector<Candidate>& candidates);
    // Writes the k nearest of the candidates in order. There must be at least k.
    void rank(std::vector<Candidate>& candidates, std::size_t k, std::int64_t* ids, double* distances) const;
    // Drops all candidates but the k nearest, and narrows the bounds of these to what float64 leaves open.
    void keep_nearest(std::vector<Candidate>& candidates, std::size_t k) const;

    bool decided() const { return word_ >= 0; }
    std::int64_t word() const { return word_; }
    // What the best score certainly reaches, in the units of the scan.
    double floor() const { return floor_; }

  private:
    struct Score {
        double value, error;
    };
    struct Ranked {
        double square;
        std::uint32_t word;
    };
    Score score(std::uint32_t word) const;
    // A bound on a score in the units of the scan, moved down (away = -1) or up (+1) by more than its own rounding.
    double in_units(double bound, double away) const;
    // The words that may be among the k nearest, with their squared distances, in no order.
    std::vector<Ranked> contenders(std::vector<Candidate>& candidates, std::size_t k) const;
    bool nearer(const Ranked& a, const Ranked& b) const;

    const IndexView& index_;
    const Kernel& kernel_;
    const float* query_;
    std::vector<double> query64_;
    double norm_, units_, growth_;
    std::int64_t word_ = -1;
    double score_ = 0.0, error_ = 0.0, floor_;
};

}  // namespace deniable
