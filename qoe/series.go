// SPDX-License-Identifier: MIT

package qoe

import (
	"math"
	"slices"
)

// Quantile returns the q-quantile, 0 <= q <= 1, of ascending values: the value
// at position q*(n-1), counted from 0, with linear interpolation between the
// two neighbours (R's type 7, the default of numpy and of spreadsheets). So 0
// is the minimum, 0.5 the median and 1 the maximum. A q outside is moved to the
// nearest end. It is NaN for no values or a q that is NaN.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 || math.IsNaN(q) {
		return math.NaN()
	}
	position := min(max(q, 0), 1) * float64(len(sorted)-1)
	i := int(position)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	low, high, part := sorted[i], sorted[i+1], position-float64(i)
	if math.IsInf(high-low, 0) { // too far apart to subtract
		return low*(1-part) + high*part
	}

	return min(low+(high-low)*part, high)
}

// Series collects values and answers quantiles exactly, at the price of
// keeping them all: 8 bytes each. Values that are not finite are left out. The
// zero value is ready to use. Not safe for concurrent use.
type Series struct {
	values []float64
	sorted bool
}

// Add appends a value.
func (s *Series) Add(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	s.sorted = s.sorted && v >= s.values[len(s.values)-1]
	s.values = append(s.values, v)
}

// Len is the number of values.
func (s *Series) Len() int { return len(s.values) }

// Quantile is [Quantile] of the values so far.
func (s *Series) Quantile(q float64) float64 {
	s.sort()

	return Quantile(s.values, q)
}

// Mean is the arithmetic mean, NaN without values.
func (s *Series) Mean() float64 {
	if len(s.values) == 0 {
		return math.NaN()
	}
	// The order of addition shows in the last digits: always ascending, so
	// that it does not depend on which question was asked first.
	s.sort()
	mean := 0.0
	for i, v := range s.values {
		mean += v/float64(i+1) - mean/float64(i+1)
	}

	return mean
}

// CV is the coefficient of variation: the population's standard deviation over
// the mean. It is NaN without values or for a mean of 0.
func (s *Series) CV() float64 {
	mean := s.Mean()
	if math.IsNaN(mean) || mean == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, v := range s.values {
		sum += (v - mean) * (v - mean)
	}

	return math.Sqrt(sum/float64(len(s.values))) / math.Abs(mean)
}

// Merge adds the values of o.
func (s *Series) Merge(o *Series) {
	if len(o.values) == 0 {
		return
	}
	s.values = append(s.values, o.values...)
	s.sorted = false
}

// Reset forgets the values and keeps the memory.
func (s *Series) Reset() { s.values, s.sorted = s.values[:0], false }

func (s *Series) sort() {
	if !s.sorted && len(s.values) > 0 {
		slices.Sort(s.values)
		s.sorted = true
	}
}
