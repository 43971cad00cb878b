/// A sum of products, kept as eight partial sums.
///
/// The compiler must keep the order of floating-point additions, so it may not split one sum among the
/// lanes of vectors. It puts eight sums that are written out into two vectors of SSE2 or NEON.
@safe
struct LaneSums {
  private var s0: Float = 0
  private var s1: Float = 0
  private var s2: Float = 0
  private var s3: Float = 0
  private var s4: Float = 0
  private var s5: Float = 0
  private var s6: Float = 0
  private var s7: Float = 0

  /// Sums the products of `count` pairs; `count` is a multiple of eight.
  @_noLocks @_noAllocation
  init(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, count: Int) {
    var k = 0
    while k < count {
      unsafe s0 += a[k] * b[k]
      unsafe s1 += a[k &+ 1] * b[k &+ 1]
      unsafe s2 += a[k &+ 2] * b[k &+ 2]
      unsafe s3 += a[k &+ 3] * b[k &+ 3]
      unsafe s4 += a[k &+ 4] * b[k &+ 4]
      unsafe s5 += a[k &+ 5] * b[k &+ 5]
      unsafe s6 += a[k &+ 6] * b[k &+ 6]
      unsafe s7 += a[k &+ 7] * b[k &+ 7]
      k &+= 8
    }
  }

  /// Sum of the products at even places: the left channel's, if frames are stereo.
  var even: Float {
    @_noLocks @_noAllocation get { (s0 + s2) + (s4 + s6) }
  }

  /// Sum of the products at odd places: the right channel's.
  var odd: Float {
    @_noLocks @_noAllocation get { (s1 + s3) + (s5 + s7) }
  }

  var total: Float {
    @_noLocks @_noAllocation get { even + odd }
  }
}
