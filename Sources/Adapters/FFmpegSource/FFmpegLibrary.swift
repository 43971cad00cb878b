import CFFmpeg
import Sender
import WireProtocol

/// FFmpeg as installed on this machine.
struct FFmpegLibrary {
  let calls: CFFmpegCalls

  /// Loads FFmpeg when it is first needed, which takes some 50 ms. From any thread.
  ///
  /// - Parameter path: the item to play, for the message.
  static func load(toPlay path: String) throws(MediaError) -> FFmpegLibrary {
    guard let calls = cff_load() else {
      throw .unsupported(
        path: path,
        reason: "FFmpeg is missing (\(Self.failure)); install it with: \(Self.installation)")
    }
    return FFmpegLibrary(calls: calls.pointee)
  }

  fileprivate static var failure: String { String(cString: cff_load_failure()) }

  fileprivate static var installation: String {
    "apt install libavformat\(cff_avformat_major) libavcodec\(cff_avcodec_major) "
      + "libswresample\(cff_swresample_major)"
  }

  /// Returns a message for the failure `code` of an FFmpeg call, with FFmpeg's own log line.
  func reason(of code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    _ = calls.av_strerror(code, &text, text.count)
    let meaning = text.withUnsafeBufferPointer { String(cString: $0.baseAddress ?? cff_last_log()) }
    let log = String(cString: cff_last_log())
    // The log quotes text from files and from servers.
    return (log.isEmpty ? meaning : "\(meaning) (\(log))").shownPlainly
  }
}

/// Tells if FFmpeg is installed.
package enum FFmpegInstallation {
  /// The reason why FFmpeg cannot be loaded, and how to install it; nil if it can. Loads it, which takes some 50 ms.
  /// From any thread.
  package static var obstacle: (reason: String, installation: String)? {
    cff_load() == nil ? (FFmpegLibrary.failure, "sudo " + FFmpegLibrary.installation) : nil
  }
}
