/// The nearest of the values −`scale`...`limit`; 0 for what is not a number.
@inlinable
@inline(__always)
package func quantise(_ sample: Float, scale: Float, limit: Int32) -> Int32 {
  guard sample.magnitude < 1 else {
    return sample >= 1 ? limit : sample <= -1 ? Int32(-scale) : 0
  }
  // Smaller than 1 by at least 2^-24, so that the product fits; at 24 bits it may still round up.
  return min(Int32((sample * scale).rounded(.toNearestOrEven)), limit)
}
