/// The Fourier transform of `2 * size` real samples, in `size + 1` complex numbers whose parts lie apart.
///
/// A complex transform of half the length, by Cooley and Tukey's method with factors of two. Made off the render thread,
/// used by one thread at a time: it holds scratch memory.
@safe
package struct RealFFT: ~Copyable {
  /// A power of two.
  package let size: Int
  /// Factors of each stage, one after the other: cos and −sin of π j / half for j below half.
  private let cosines: UnsafeMutablePointer<Float>
  private let sines: UnsafeMutablePointer<Float>
  /// cos and −sin of π k / size.
  private let splitCosines: UnsafeMutablePointer<Float>
  private let splitSines: UnsafeMutablePointer<Float>
  private let reversed: UnsafeMutablePointer<Int32>
  private let scratchReal: UnsafeMutablePointer<Float>
  private let scratchImaginary: UnsafeMutablePointer<Float>

  package init(size: Int) {
    precondition(size >= 2 && size & (size - 1) == 0 && size <= 1 << 20)
    self.size = size
    unsafe cosines = Self.zeros(size)
    unsafe sines = Self.zeros(size)
    unsafe splitCosines = Self.zeros(size)
    unsafe splitSines = Self.zeros(size)
    unsafe scratchReal = Self.zeros(size)
    unsafe scratchImaginary = Self.zeros(size)
    unsafe reversed = .allocate(capacity: size)
    var half = 1
    while half < size {
      for j in 0..<half {
        unsafe cosines[half - 1 + j] = Float(sineOfHalfTurns(Double(j) / Double(half) + 0.5))
        unsafe sines[half - 1 + j] = Float(-sineOfHalfTurns(Double(j) / Double(half)))
      }
      half *= 2
    }
    let bits = size.trailingZeroBitCount
    for k in 0..<size {
      unsafe splitCosines[k] = Float(sineOfHalfTurns(Double(k) / Double(size) + 0.5))
      unsafe splitSines[k] = Float(-sineOfHalfTurns(Double(k) / Double(size)))
      var place = 0
      for bit in 0..<bits where k >> bit & 1 == 1 { place |= 1 << (bits - 1 - bit) }
      unsafe (reversed + k).initialize(to: Int32(place))
    }
  }

  private static func zeros(_ count: Int) -> UnsafeMutablePointer<Float> {
    let place = UnsafeMutablePointer<Float>.allocate(capacity: count)
    unsafe place.initialize(repeating: 0, count: count)
    return unsafe place
  }

  deinit {
    unsafe cosines.deallocate()
    unsafe sines.deallocate()
    unsafe splitCosines.deallocate()
    unsafe splitSines.deallocate()
    unsafe scratchReal.deallocate()
    unsafe scratchImaginary.deallocate()
    unsafe reversed.deallocate()
  }

  /// Transforms `2 * size` samples into `size + 1` numbers.
  @_noLocks @_noAllocation
  package func forward(
    _ samples: UnsafePointer<Float>, _ real: UnsafeMutablePointer<Float>,
    _ imaginary: UnsafeMutablePointer<Float>
  ) {
    for k in 0..<size {
      let place = unsafe Int(reversed[k])
      unsafe real[place] = samples[2 &* k]
      unsafe imaginary[place] = samples[2 &* k &+ 1]
    }
    unsafe transform(real, imaginary)
    let (first, second) = unsafe (real[0], imaginary[0])
    unsafe real[0] = first + second
    unsafe imaginary[0] = 0
    unsafe real[size] = first - second
    unsafe imaginary[size] = 0
    var k = 1
    while 2 &* k <= size {
      let m = size &- k
      let (re, im) = unsafe (real[k], imaginary[k])
      let (otherRe, otherIm) = unsafe (real[m], imaginary[m])
      // The spectra of the even samples and of the odd ones.
      let (evenRe, evenIm) = ((re + otherRe) * 0.5, (im - otherIm) * 0.5)
      let (oddRe, oddIm) = ((im + otherIm) * 0.5, (otherRe - re) * 0.5)
      let (c, s) = unsafe (splitCosines[k], splitSines[k])
      let (turnedRe, turnedIm) = (c * oddRe - s * oddIm, c * oddIm + s * oddRe)
      unsafe real[k] = evenRe + turnedRe
      unsafe imaginary[k] = evenIm + turnedIm
      unsafe real[m] = evenRe - turnedRe
      unsafe imaginary[m] = turnedIm - evenIm
      k &+= 1
    }
  }

  /// Transforms back: what `forward` was given comes out.
  @_noLocks @_noAllocation
  package func inverse(
    _ real: UnsafePointer<Float>, _ imaginary: UnsafePointer<Float>,
    _ samples: UnsafeMutablePointer<Float>
  ) {
    // The parts are swapped, which makes the same transform go backwards.
    let half = unsafe ((real[0] + real[size]) * 0.5, (real[0] - real[size]) * 0.5)
    unsafe scratchImaginary[0] = half.0
    unsafe scratchReal[0] = half.1
    var k = 1
    while 2 &* k <= size {
      let m = size &- k
      let (re, im) = unsafe (real[k], imaginary[k])
      let (otherRe, otherIm) = unsafe (real[m], imaginary[m])
      let (evenRe, evenIm) = ((re + otherRe) * 0.5, (im - otherIm) * 0.5)
      let (turnedRe, turnedIm) = ((re - otherRe) * 0.5, (im + otherIm) * 0.5)
      let (c, s) = unsafe (splitCosines[k], -splitSines[k])
      let (oddRe, oddIm) = (c * turnedRe - s * turnedIm, c * turnedIm + s * turnedRe)
      let (place, mirrored) = unsafe (Int(reversed[k]), Int(reversed[m]))
      unsafe scratchImaginary[place] = evenRe - oddIm
      unsafe scratchReal[place] = evenIm + oddRe
      unsafe scratchImaginary[mirrored] = evenRe + oddIm
      unsafe scratchReal[mirrored] = oddRe - evenIm
      k &+= 1
    }
    unsafe transform(scratchReal, scratchImaginary)
    let scale = 1 / Float(size)
    for k in 0..<size {
      unsafe samples[2 &* k] = scratchImaginary[k] * scale
      unsafe samples[2 &* k &+ 1] = scratchReal[k] * scale
    }
  }

  /// The complex transform of `size` numbers in reversed order of bits, in place.
  @_noLocks @_noAllocation
  private func transform(
    _ real: UnsafeMutablePointer<Float>, _ imaginary: UnsafeMutablePointer<Float>
  ) {
    var half = 1
    while half < size {
      let c = unsafe UnsafePointer(cosines + (half &- 1))
      let s = unsafe UnsafePointer(sines + (half &- 1))
      var start = 0
      while start < size {
        let (re, im) = unsafe (real + start, imaginary + start)
        let (farRe, farIm) = unsafe (re + half, im + half)
        var j = 0
        while j < half {
          let turnedRe = unsafe c[j] * farRe[j] - s[j] * farIm[j]
          let turnedIm = unsafe c[j] * farIm[j] + s[j] * farRe[j]
          unsafe farRe[j] = re[j] - turnedRe
          unsafe farIm[j] = im[j] - turnedIm
          unsafe re[j] += turnedRe
          unsafe im[j] += turnedIm
          j &+= 1
        }
        start &+= 2 &* half
      }
      half &*= 2
    }
  }
}
