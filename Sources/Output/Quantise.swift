/// The nearest value in −`scale`...`limit`; 0 for NaN.
@inlinable
@inline(__always)
package func quantise(_ sample: Float, scale: Float, limit: Int32) -> Int32 {
  guard sample.magnitude < 1 else {
    return sample >= 1 ? limit : sample <= -1 ? Int32(-scale) : 0
  }
  // The magnitude is below 1 by at least 2^-24, so the product fits. At 24 bits it may still round
  // up.
  return min(Int32((sample * scale).rounded(.toNearestOrEven)), limit)
}
