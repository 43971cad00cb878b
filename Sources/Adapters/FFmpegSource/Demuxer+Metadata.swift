import CFFmpeg
import Clock
import Sender
import WireProtocol

/// Metadata of the item in a container.
extension Demuxer {
  var metadata: ItemMetadata {
    var metadata = ItemMetadata(
      title: tag("title"), artist: tag("artist"), album: tag("album") ?? tag("icy-name"))
    metadata.albumArtist = tag("album_artist")
    metadata.track = number(tag("track"))
    metadata.disc = number(tag("disc"))
    metadata.date = tag("date")
    metadata.artwork = artwork
    metadata.loudness = taggedLoudness
    metadata.peak = tag("REPLAYGAIN_TRACK_PEAK").flatMap(leadingNumber).flatMap {
      $0 > 0 ? $0 : nil
    }
    metadata.chapters = chapters
    metadata.hasVideo = hasVideo
    if let announced = tag("StreamTitle"), !announced.isEmpty {
      let dash = announced.place(of: " - ")
      let parts = dash.map { [announced[..<$0.lowerBound], announced[$0.upperBound...]] } ?? []
      let said = parts.filter { !$0.isEmpty }.map(String.init)
      metadata.title = said.last ?? announced
      metadata.artist = said.count == 2 ? said[0] : metadata.artist
    }
    return metadata
  }

  /// Returns a tag. Ogg keeps tags with the stream, most other formats with the file.
  func tag(_ key: String) -> String? {
    for dictionary in [context?.pointee.metadata, stream.pointee.metadata] {
      guard let entry = library.calls.av_dict_get(dictionary, key, nil, 0),
        let value = entry.pointee.value
      else { continue }
      return ItemMetadata.shown(String(cString: value))
    }
    return nil
  }

  /// Returns the first number: 3 for `3/12`.
  private func number(_ tag: String?) -> Int? { Self.number(tag) }

  static func number(_ tag: String?) -> Int? {
    tag.flatMap { Int($0.prefix { $0.isASCII && $0.isNumber }) }
      .flatMap { (1...9_999).contains($0) ? $0 : nil }
  }

  /// Loudness in LUFS from the tags. ReplayGain is the gain that brings an item to -18 LUFS; Opus gives the gain to
  /// -23 LUFS in 256ths of a decibel.
  private var taggedLoudness: Double? {
    let loudness =
      tag("R128_TRACK_GAIN").flatMap(leadingNumber).map { -23 - $0 / 256 }
      ?? tag("REPLAYGAIN_TRACK_GAIN").flatMap(leadingNumber).map { -18 - $0 }
    return loudness.flatMap { (-70...10).contains($0) ? $0 : nil }
  }

  /// Returns -7.3 for `-7.3 dB`.
  private func leadingNumber(_ tag: String) -> Double? {
    Double(tag.prefix { "+-.0123456789".contains($0) }).flatMap { $0.isFinite ? $0 : nil }
  }

  /// The attached picture, which FFmpeg presents as a video of one frame.
  private var artwork: Artwork? {
    guard let context, let streams = context.pointee.streams else { return nil }
    for index in 0..<Int(context.pointee.nb_streams) {
      guard let stream = streams[index]?.pointee,
        stream.disposition & AV_DISPOSITION_ATTACHED_PIC != 0,
        let codec = stream.codecpar?.pointee.codec_id, let type = Self.mimeType(of: codec),
        let data = stream.attached_pic.data,
        (1...Artwork.sizeLimit).contains(Int(stream.attached_pic.size))
      else { continue }
      let bytes = UnsafeBufferPointer(start: data, count: Int(stream.attached_pic.size))
      return Artwork(bytes: Array(bytes), mimeType: type)
    }
    return nil
  }

  private var chapters: [ItemChapter] {
    guard let context, let chapters = context.pointee.chapters else { return [] }
    let flicks = AVRational(num: 1, den: Int32(MediaDuration.flicksPerSecond))
    return (0..<min(Int(context.pointee.nb_chapters), ItemChapter.limit)).compactMap { index in
      guard let chapter = chapters[index]?.pointee, chapter.time_base.den > 0 else { return nil }
      let title = library.calls.av_dict_get(chapter.metadata, "title", nil, 0)?.pointee.value
      return ItemChapter(
        title: title.map { ItemMetadata.shown(String(cString: $0)) },
        start: MediaDuration(
          flicks: library.calls.av_rescale_q(chapter.start, chapter.time_base, flicks)))
    }
  }

  /// True if a stream has pictures that move: a cover is a stream, too.
  private var hasVideo: Bool {
    guard let context, let streams = context.pointee.streams else { return false }
    return (0..<Int(context.pointee.nb_streams)).contains { index in
      guard let stream = streams[index]?.pointee else { return false }
      return stream.codecpar?.pointee.codec_type == AVMEDIA_TYPE_VIDEO
        && stream.disposition & AV_DISPOSITION_ATTACHED_PIC == 0
    }
  }

  static func mimeType(of codec: AVCodecID) -> String? {
    switch codec {
    case AV_CODEC_ID_MJPEG: "image/jpeg"
    case AV_CODEC_ID_PNG: "image/png"
    case AV_CODEC_ID_GIF: "image/gif"
    case AV_CODEC_ID_BMP: "image/bmp"
    case AV_CODEC_ID_WEBP: "image/webp"
    default: nil
    }
  }
}
