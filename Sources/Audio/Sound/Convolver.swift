/// Applies a FIR filter to two channels by partitioned convolution: the filter is cut into parts of one block, each block
/// of input is transformed once, and each block of output is a sum of products of spectra (overlap-save).
///
/// Input and output lie on the grid of device frames. *Input frame* i belongs to device frame i, and `read` mixes it with
/// the output that has the filter's peak there. So the filter delays nothing, but input must be written ahead: `reach`
/// frames, and up to the end of a block.
///
/// Made off the render thread; afterwards it allocates nothing. It remembers enough input and output to go back by
/// `rewindFrames`.
@safe
package struct Convolver: ~Copyable {
  /// A block of input lasts 11 ms at 48 kHz. Smaller ones cost more, larger ones are read farther ahead.
  package static var block: Int { @_noLocks @_noAllocation get { 512 } }

  /// Frames that each frame of output needs after it: the part of the filter before its peak.
  package let reach: Int64
  /// Frames of the filter.
  package let length: Int64
  /// The next frame of input to be written.
  package private(set) var next: Int64 = 0
  /// The first frame of input; what was before it counts as silence.
  package private(set) var origin: Int64 = 0

  private let fft: RealFFT
  /// Channels of the input. The filter changes the first two; the others pass.
  private let channelCount: Int
  private let partCount: Int
  private let filterChannels: Int
  /// Numbers in a spectrum, with a distance to the next that is a multiple of a vector's length.
  private let spectrumLength: Int
  private let stride: Int
  private let filterReal: UnsafeMutablePointer<Float>
  private let filterImaginary: UnsafeMutablePointer<Float>
  /// Blocks of input and of output, by block number modulo `tapeBlocks`.
  private let tape: UnsafeMutablePointer<Float>
  private let wet: UnsafeMutablePointer<Float>
  private let tapeBlocks: Int64
  /// Blocks of input that are not only silence are marked with their number.
  private let sounding: UnsafeMutablePointer<Int64>
  /// Spectra of the input by block number modulo `spectrumCount`, marked in the same way.
  private let inputReal: UnsafeMutablePointer<Float>
  private let inputImaginary: UnsafeMutablePointer<Float>
  private let spectra: UnsafeMutablePointer<Int64>
  private let spectrumCount: Int64
  private let sumReal: UnsafeMutablePointer<Float>
  private let sumImaginary: UnsafeMutablePointer<Float>
  private let window: UnsafeMutablePointer<Float>

  /// The response is at the device's rate. It is made quieter if it would make any sine louder.
  package init(_ response: ImpulseResponse, rewindFrames: Int, channelCount: Int) {
    let block = Self.block
    self.channelCount = channelCount
    fft = RealFFT(size: block)
    reach = Int64(response.peak)
    length = Int64(response.frameCount)
    spectrumLength = block + 1
    stride = block + 8
    partCount = (response.frameCount + block - 1) / block
    filterChannels = response.channels.count
    let filterSize = partCount * filterChannels * stride
    unsafe filterReal = Self.memory(filterSize)
    unsafe filterImaginary = Self.memory(filterSize)
    let rewindBlocks = (rewindFrames + block - 1) / block
    tapeBlocks = Int64(rewindBlocks + (response.peak + block - 1) / block + 8)
    unsafe tape = Self.memory(Int(tapeBlocks) * block * channelCount)
    unsafe wet = Self.memory(Int(tapeBlocks) * block * 2)
    unsafe sounding = .allocate(capacity: Int(tapeBlocks))
    unsafe sounding.initialize(repeating: .min, count: Int(tapeBlocks))
    spectrumCount = Int64(partCount + rewindBlocks + 8)
    unsafe inputReal = Self.memory(Int(spectrumCount) * 2 * stride)
    unsafe inputImaginary = Self.memory(Int(spectrumCount) * 2 * stride)
    unsafe spectra = .allocate(capacity: Int(spectrumCount))
    unsafe spectra.initialize(repeating: .min, count: Int(spectrumCount))
    unsafe sumReal = Self.memory(stride)
    unsafe sumImaginary = Self.memory(stride)
    unsafe window = Self.memory(2 * block)
    transform(response)
  }

  deinit {
    unsafe filterReal.deallocate()
    unsafe filterImaginary.deallocate()
    unsafe tape.deallocate()
    unsafe wet.deallocate()
    unsafe sounding.deallocate()
    unsafe inputReal.deallocate()
    unsafe inputImaginary.deallocate()
    unsafe spectra.deallocate()
    unsafe sumReal.deallocate()
    unsafe sumImaginary.deallocate()
    unsafe window.deallocate()
  }

  private static func memory(_ count: Int) -> UnsafeMutablePointer<Float> {
    let place = UnsafeMutablePointer<Float>.allocate(capacity: count)
    unsafe place.initialize(repeating: 0, count: count)
    return unsafe place
  }

  private func transform(_ response: ImpulseResponse) {
    let gain = 1 / max(1, Self.peakGain(of: response))
    for (channel, values) in response.channels.enumerated() {
      for part in 0..<partCount {
        let first = part * Self.block
        for i in 0..<2 * Self.block {
          let isThere = i < Self.block && first + i < values.count
          unsafe window[i] = isThere ? values[first + i] * gain : 0
        }
        let place = (channel * partCount + part) * stride
        unsafe fft.forward(window, filterReal + place, filterImaginary + place)
      }
    }
  }

  /// The largest gain that a sine gets from the filter, to 0.1 dB.
  private static func peakGain(of response: ImpulseResponse) -> Float {
    var size = 2 * Self.block
    // Twice as many frequencies as frames show the peaks between the frequencies of the filter itself.
    while size < 2 * response.frameCount { size *= 2 }
    let fft = RealFFT(size: size)
    var largest: Float = 0
    for values in response.channels {
      let padded = values + [Float](repeating: 0, count: 2 * size - values.count)
      var real = [Float](repeating: 0, count: size + 1)
      var imaginary = real
      unsafe padded.withUnsafeBufferPointer { padded in
        unsafe real.withUnsafeMutableBufferPointer { real in
          unsafe imaginary.withUnsafeMutableBufferPointer { imaginary in
            guard let samples = padded.baseAddress, let re = real.baseAddress,
              let im = imaginary.baseAddress
            else { return }
            unsafe fft.forward(samples, re, im)
          }
        }
      }
      for k in 0...size {
        largest = max(largest, real[k] * real[k] + imaginary[k] * imaginary[k])
      }
    }
    return largest.squareRoot()
  }

  // MARK: - Input

  /// Forgets all input, and begins at a frame.
  @_noLocks @_noAllocation
  package mutating func begin(at frame: Int64) {
    (origin, next) = (frame, frame)
    for i in 0..<Int(tapeBlocks) { unsafe sounding[i] = .min }
    for i in 0..<Int(spectrumCount) { unsafe spectra[i] = .min }
    clearBlock(before: frame)
  }

  @_noLocks @_noAllocation
  private func clearBlock(before frame: Int64) {
    let start = unsafe tape + slot(of: Self.number(frame)) * Self.block * channelCount
    for i in 0..<Self.offset(frame) * channelCount { unsafe start[i] = 0 }
  }

  /// The place of the next frames of input.
  package var place: UnsafeMutablePointer<Float> {
    @_noLocks @_noAllocation get { unsafe input(next) }
  }
  /// Frames up to the end of their block.
  package var room: Int {
    @_noLocks @_noAllocation get { Self.block - Self.offset(next) }
  }

  /// Takes `frames` frames that were written to `place`, at most `room`. `isSilent` is true if all are zero.
  @_noLocks @_noAllocation
  package mutating func wrote(_ frames: Int, isSilent: Bool) {
    let number = Self.number(next)
    if !isSilent { unsafe sounding[slot(of: number)] = number }
    next += Int64(frames)
    if Self.offset(next) == 0 { convolve(number) }
  }

  /// Goes back: `frame` is the next frame of input. It was written before, or is one before `origin`.
  @_noLocks @_noAllocation
  package mutating func rewind(to frame: Int64) {
    guard frame < next else { return }
    next = frame
    guard frame < origin else { return }
    origin = frame
    clearBlock(before: frame)
  }

  /// One past the last frame of output that is there.
  package var readyUntil: Int64 {
    @_noLocks @_noAllocation get { next - Int64(Self.offset(next)) - reach }
  }

  // MARK: - Output

  /// Writes device frames from `first` on, all of which have their input: as it came, or filtered as much as the change
  /// says.
  @_noLocks @_noAllocation
  package func read(
    from first: Int64, into out: UnsafeMutablePointer<Float>, frames: Int, _ change: CrossFade
  ) {
    for i in 0..<frames {
      let frame = first + Int64(i)
      let dry = unsafe input(frame)
      let target = unsafe out + i * channelCount
      for channel in 0..<channelCount { unsafe target[channel] = dry[channel] }
      let part = change.share(at: frame)
      guard part > 0 else { continue }
      let filtered = unsafe output(frame + reach)
      for channel in 0..<min(2, channelCount) {
        unsafe target[channel] += (filtered[channel] - target[channel]) * part
      }
    }
  }

  // MARK: - Places

  @_noLocks @_noAllocation
  private static func number(_ frame: Int64) -> Int64 { frame >> 9 }

  @_noLocks @_noAllocation
  private static func offset(_ frame: Int64) -> Int { Int(frame & 511) }

  @_noLocks @_noAllocation
  private func slot(of number: Int64) -> Int {
    Int((number % tapeBlocks + tapeBlocks) % tapeBlocks)
  }

  @_noLocks @_noAllocation
  private func spectrumSlot(of number: Int64) -> Int {
    Int((number % spectrumCount + spectrumCount) % spectrumCount)
  }

  @_noLocks @_noAllocation
  private func input(_ frame: Int64) -> UnsafeMutablePointer<Float> {
    let place = slot(of: Self.number(frame)) * Self.block + Self.offset(frame)
    return unsafe tape + place * channelCount
  }

  @_noLocks @_noAllocation
  private func output(_ frame: Int64) -> UnsafeMutablePointer<Float> {
    let place = slot(of: Self.number(frame)) * Self.block + Self.offset(frame)
    return unsafe wet + place * 2
  }

  // MARK: - Convolution

  @_noLocks @_noAllocation
  private mutating func convolve(_ number: Int64) {
    analyse(number)
    let target = unsafe wet + slot(of: number) * Self.block * 2
    for channel in 0..<2 {
      if sum(number, channel) {
        unsafe fft.inverse(sumReal, sumImaginary, window)
        for i in 0..<Self.block { unsafe target[2 &* i &+ channel] = window[Self.block &+ i] }
      } else {
        for i in 0..<Self.block { unsafe target[2 &* i &+ channel] = 0 }
      }
    }
  }

  /// Transforms a block of input with the one before it.
  @_noLocks @_noAllocation
  private mutating func analyse(_ number: Int64) {
    let (old, new) = (slot(of: number - 1), slot(of: number))
    let hasOld = unsafe sounding[old] == number - 1
    let hasNew = unsafe sounding[new] == number
    let place = spectrumSlot(of: number)
    guard hasOld || hasNew else {
      unsafe spectra[place] = .min
      return
    }
    for channel in 0..<2 {
      let source = min(channel, channelCount - 1)
      let before = unsafe tape + old * Self.block * channelCount + source
      let after = unsafe tape + new * Self.block * channelCount + source
      for i in 0..<Self.block {
        unsafe window[i] = hasOld ? before[i &* channelCount] : 0
        unsafe window[Self.block &+ i] = hasNew ? after[i &* channelCount] : 0
      }
      let spectrum = (place * 2 + channel) * stride
      unsafe fft.forward(window, inputReal + spectrum, inputImaginary + spectrum)
    }
    unsafe spectra[place] = number
  }

  /// Sums the products of the filter's parts with the input of as many blocks ago. Returns false if all of it is zero.
  @_noLocks @_noAllocation
  private func sum(_ number: Int64, _ channel: Int) -> Bool {
    var isFirst = true
    for part in 0..<partCount {
      let block = number - Int64(part)
      let place = spectrumSlot(of: block)
      guard unsafe spectra[place] == block else { continue }
      let filter = (min(channel, filterChannels - 1) * partCount + part) * stride
      let spectrum = (place * 2 + channel) * stride
      unsafe multiply(
        (filterReal + filter, filterImaginary + filter),
        (inputReal + spectrum, inputImaginary + spectrum), isFirst: isFirst)
      isFirst = false
    }
    return !isFirst
  }

  @_noLocks @_noAllocation
  private func multiply(
    _ a: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>),
    _ b: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>), isFirst: Bool
  ) {
    let (aRe, aIm, bRe, bIm) = unsafe (a.0, a.1, b.0, b.1)
    let (re, im) = unsafe (sumReal, sumImaginary)
    var k = 0
    if isFirst {
      while k < spectrumLength {
        unsafe re[k] = aRe[k] * bRe[k] - aIm[k] * bIm[k]
        unsafe im[k] = aRe[k] * bIm[k] + aIm[k] * bRe[k]
        k &+= 1
      }
      return
    }
    while k < spectrumLength {
      unsafe re[k] += aRe[k] * bRe[k] - aIm[k] * bIm[k]
      unsafe im[k] += aRe[k] * bIm[k] + aIm[k] * bRe[k]
      k &+= 1
    }
  }
}
