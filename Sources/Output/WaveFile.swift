import Glibc

/// The sample formats of WAV files.
package enum WaveFormat: String, CaseIterable, Sendable {
  case float32 = "float"
  case packed24 = "s24"

  var bytesPerSample: Int { self == .float32 ? 4 : 3 }
  var headerSize: Int { self == .float32 ? 58 : 44 }
}

/// Writes a stereo WAV file that is valid at any time: after a kill, everything up to the last `flush`
/// can be played.
package struct WaveFile: ~Copyable {
  /// RIFF counts bytes in 32 bits.
  package static let largestSize = 0xFFFF_FFFF
  private static let bufferSize = 1 << 16

  private let path: String
  private let descriptor: Int32
  private let sampleRate: Int
  private let format: WaveFormat
  private let headerSize: Int
  private let largestSize: Int
  private let buffer: UnsafeMutableRawBufferPointer
  private var buffered: Int
  /// Bytes in the file, including the header, without buffered ones.
  private var size: Int

  /// Creates or replaces the file, which is empty until the first `flush`.
  package init(
    path: String, sampleRate: Int, format: WaveFormat, largestSize: Int = Self.largestSize
  ) throws(SinkError) {
    let file = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw Self.failure(path, errno) }
    descriptor = file
    self.path = path
    self.sampleRate = sampleRate
    self.format = format
    self.largestSize = largestSize
    buffer = .allocate(byteCount: Self.bufferSize, alignment: 16)
    headerSize = format.headerSize
    size = headerSize
    buffered = 0
  }

  /// Throws if a file cannot be written at `path`. Does not change an existing file.
  package static func check(path: String) throws(SinkError) {
    let exists = access(path, F_OK) == 0
    let file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw failure(path, errno) }
    close(file)
    if !exists { unlink(path) }
  }

  deinit {
    buffer.deallocate()
    close(descriptor)
  }

  /// Appends stereo frames, full scale ±1.
  package mutating func append(_ frames: UnsafePointer<Float>, count: Int) throws(SinkError) {
    let frameSize = 2 * format.bytesPerSample
    guard size + buffered + count * frameSize <= largestSize else {
      try flush()
      throw SinkError(
        description: "\(path): a WAV file holds no more than 4 GiB; it is complete up to there")
    }
    for i in 0..<(2 * count) {
      if buffered + 4 > Self.bufferSize { try flushSamples() }
      put(frames[i])
    }
  }

  /// Writes buffered samples and updates the header.
  package mutating func flush() throws(SinkError) {
    try flushSamples()
    let written = header.withUnsafeBytes { store($0, at: 0) }
    guard written == 0 else { throw Self.failure(path, written) }
  }

  /// A format other than integer PCM needs an extension, which is empty here, and a `fact` chunk with
  /// the number of frames.
  private var header: [UInt8] {
    let isFloat = format == .float32
    let frameSize = 2 * format.bytesPerSample
    let dataSize = size - headerSize
    var header = Array("RIFF".utf8) + bytes(UInt32(size - 8)) + Array("WAVEfmt ".utf8)
    header += bytes(UInt32(isFloat ? 18 : 16)) + bytes(UInt16(isFloat ? 3 : 1)) + bytes(UInt16(2))
    header += bytes(UInt32(sampleRate)) + bytes(UInt32(sampleRate * frameSize))
    header += bytes(UInt16(frameSize)) + bytes(UInt16(8 * format.bytesPerSample))
    if isFloat {
      header += bytes(UInt16(0)) + Array("fact".utf8) + bytes(UInt32(4))
      header += bytes(UInt32(dataSize / frameSize))
    }
    return header + Array("data".utf8) + bytes(UInt32(dataSize))
  }

  private mutating func flushSamples() throws(SinkError) {
    guard buffered > 0 else { return }
    let code = store(UnsafeRawBufferPointer(rebasing: buffer[..<buffered]), at: size)
    guard code == 0 else { throw Self.failure(path, code) }
    size += buffered
    buffered = 0
  }

  private mutating func put(_ sample: Float) {
    switch format {
    case .float32:
      buffer.storeBytes(of: sample, toByteOffset: buffered, as: Float.self)
    case .packed24:
      let value = quantise(sample, scale: 0x1p23, limit: 0x7F_FFFF)
      buffer[buffered] = UInt8(truncatingIfNeeded: value)
      buffer[buffered + 1] = UInt8(truncatingIfNeeded: value >> 8)
      buffer[buffered + 2] = UInt8(truncatingIfNeeded: value >> 16)
    }
    buffered += format.bytesPerSample
  }

  /// Returns zero or an `errno`.
  private func store(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Int32 {
    var done = 0
    while done < bytes.count {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
      let count = pwrite(descriptor, rest.baseAddress, rest.count, offset + done)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? ENOSPC : errno }
      done += count
    }
    return 0
  }

  private func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }

  private static func failure(_ path: String, _ code: Int32) -> SinkError {
    SinkError(description: "cannot write \(path): \(String(cString: strerror(code)))")
  }
}
