/// Texts of strangers that make a demuxer open, read or store without end, or read what it must not.
package struct Attack: Sendable, CustomStringConvertible {
  package let description: String
  /// The content of each path; the first file is played.
  package let files: [(name: String, text: String)]

  private init(_ description: String, _ files: KeyValuePairs<String, String>) {
    self.description = description
    self.files = files.map { ($0.key, $0.value) }
  }

  private static let master = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n"
  private static func media(_ lines: String) -> String {
    "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(lines)\n#EXT-X-ENDLIST\n"
  }

  /// Attacks that name only files beside them: served, and as files.
  package static let lists = [
    Attack(
      "a concat list names itself", ["loop.mp3": "ffconcat version 1.0\nfile 'loop.mp3'\n"]),
    Attack(
      "two concat lists name each other",
      [
        "a.mp3": "ffconcat version 1.0\nfile 'b.flac'\n",
        "b.flac": "ffconcat version 1.0\nfile a.mp3\n",
      ]),
    Attack(
      "a concat list with options",
      ["a.ogg": "ffconcat version 1.0\nfile a.ogg\noption safe 0\nfile_packet_meta x y\n"]),
    Attack("an HLS list of qualities names itself", ["m.m3u8": master + "m.m3u8\n"]),
    Attack(
      "two HLS lists of qualities name each other",
      ["a.m3u8": master + "b.m3u8\n", "b.m3u8": master + "a.m3u8\n"]),
    Attack(
      "an HLS list is its own segment", ["m.m3u8": media("#EXTINF:1,\nm.m3u8")]),
    Attack(
      "an HLS list is its own key",
      ["m.m3u8": media("#EXT-X-KEY:METHOD=AES-128,URI=\"m.m3u8\"\n#EXTINF:1,\nm.m3u8")]),
    Attack(
      "an HLS list is its own first part",
      ["m.m3u8": media("#EXT-X-MAP:URI=\"m.m3u8\"\n#EXTINF:1,\nm.m3u8")]),
    Attack(
      "HLS segments are files of the machine",
      ["m.m3u8": media("#EXTINF:1,\nfile:///etc/passwd\n#EXTINF:1,\n/etc/passwd")]),
    Attack(
      "HLS segments are concatenated files",
      ["m.m3u8": media("#EXTINF:1,\nconcat:/etc/passwd|/etc/group")]),
    Attack(
      "an HLS list by another name", ["a.flac": media("#EXTINF:1,\na.flac")]),
    Attack(
      "a DASH manifest",
      [
        "a.mp4": """
        <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" \
        mediaPresentationDuration="PT10S" profiles="urn:mpeg:dash:profile:isoff-main:2011"><Period>\
        <AdaptationSet mimeType="audio/mp4"><Representation id="1" bandwidth="1">\
        <BaseURL>a.mp4</BaseURL><SegmentList duration="1"><SegmentURL media="a.mp4"/></SegmentList>\
        </Representation></AdaptationSet></Period></MPD>
        """
      ]),
    Attack(
      "a session description",
      ["a.aac": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=audio 5004 RTP/AVP 0\n"]),
    Attack(
      "an IMF composition",
      [
        "a.wav": """
        <?xml version="1.0"?><CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016">\
        <Id>urn:uuid:8713c020-2489-45f5-a9f7-87be539e20b5</Id></CompositionPlaylist>
        """
      ]),
    Attack("a list of subtitles", ["a.mp3": "1\n00:00:00,000 --> 00:00:09,000\nword\n\n"]),
    Attack(
      "a list of chapters",
      ["a.ogg": ";FFMETADATA1\n" + String(repeating: "[CHAPTER]\nSTART=0\nEND=1\n", count: 999)]),
    Attack(
      "an index of pictures of words",
      [
        "a.flac":
          "# VobSub index file, v7 (do not modify this line!)\nsize: 1x1\nid: en, index: 0\n"
      ]
    ),
    Attack("a script of a sound", ["a.wav": "sine=frequency=440,amovie=a.wav"]),
    Attack(
      "a text for a terminal", ["a.ans": String(repeating: "\u{1B}[2J\u{1B}[1m#", count: 999)]),
    Attack("a Playlist of a DVD menu", ["a.mlp": "RTSPtext\nrtsp://127.0.0.1/a\n"]),
  ]
}
