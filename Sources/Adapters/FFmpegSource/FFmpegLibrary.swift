import CFFmpeg
import Sender
import WireProtocol

/// FFmpeg as it was found on this machine.
struct FFmpegLibrary {
  let calls: CFFmpegCalls

  /// Loads FFmpeg when it is first needed, which takes some 50 ms. From any thread.
  ///
  /// - Parameter path: what was to be played, for the message.
  static func load(toPlay path: String) throws(MediaError) -> FFmpegLibrary {
    guard let calls = cff_load() else {
      let packages =
        "libavformat\(cff_avformat_major) libavcodec\(cff_avcodec_major) libswresample\(cff_swresample_major)"
      throw .unsupported(
        path: path,
        reason: "FFmpeg is missing (\(String(cString: cff_load_failure()))); "
          + "install it with: apt install \(packages)")
    }
    return FFmpegLibrary(calls: calls.pointee)
  }

  /// A message for the failure `code` of an FFmpeg call, with FFmpeg's own log line.
  func reason(of code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    _ = calls.av_strerror(code, &text, text.count)
    let meaning = text.withUnsafeBufferPointer { String(cString: $0.baseAddress ?? cff_last_log()) }
    let log = String(cString: cff_last_log())
    // It quotes text from files and from servers.
    return (log.isEmpty ? meaning : "\(meaning) (\(log))").shownPlainly
  }
}
