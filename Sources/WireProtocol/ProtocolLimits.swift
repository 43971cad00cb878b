package import Clock

/// Every limit on what a peer may send, with its reason. docs/protocol/README.md lists them.
///
/// Times and counts are bounded far below 2^63 so that the sums that the cores form of them (a media time
/// mapped to group time, then to local time) fit into 64 bits without a check at each step.
package enum ProtocolLimits {
  /// Bytes of the first message of a connection, whose peer nobody knows yet.
  package static let openingMessage = 1024
  /// Bytes of a TLS handshake, each way: many times what two certificates of small keys take.
  package static let handshake = 64 * 1024
  /// Bytes of a control message after its length field: far above the largest that exists, which leaves room for later
  /// versions, and small enough to hold for any number of connections.
  package static let controlMessage = 64 * 1024
  /// Control messages a second that a sender may send all the time: seeking and changing the volume with held keys
  /// causes less than a hundred.
  package static let controlMessagesPerSecond: Int64 = 200
  /// Control messages that may arrive at once: those that the network can hold back before the receiver gives up.
  package static let controlMessageBurst: Int64 = 2000
  /// Bytes of one packet's payload: 85 ms of the largest PCM (192 kHz, 8 channels, 4 bytes a sample).
  package static let audioPayload = 512 * 1024
  /// Bytes of a media message after its length field: a payload, its header, and room for a longer header.
  package static let mediaMessage = audioPayload + 4 * 1024

  /// Bytes of UTF-8: a name must fit on one line of a terminal. A room's name has 63 at most, for its service record.
  package static let name = 64
  /// Bytes of UTF-8: one sentence for people.
  package static let detail = 256
  /// Bytes of UTF-8 of a title, an artist or an album; longer texts are not names.
  package static let itemText = 512
  /// Announcements that a sender has made and that still count: that of the sounding item, and an album's worth behind
  /// it.
  package static let announcements = 16
  /// Announcements that a receiver holds: a room with a delay needs them longer than the sender thinks.
  package static let heldAnnouncements = 32
  /// Bytes of a picture: a cover of 2000 by 2000 as JPEG has a quarter of that.
  package static let artwork = 4 << 20
  /// Bytes of all pictures that a sender's announcements name: two of the largest.
  package static let announcedArtwork = 8 << 20
  /// Bytes of all pictures that a receiver holds: one more of the largest, because a room with a delay needs it
  /// longer.
  package static let heldArtwork = 12 << 20
  /// Bytes of a piece: a link of 1 Mbit/s has sent it within 130 ms, and music never waits long behind one.
  package static let artworkPiece = 16 * 1024
  /// Bytes of a clip: a minute of speech in Opus has a third of that.
  package static let clip = 1 << 20
  /// Longer announcements are no announcements.
  package static let clipSpan = MediaDuration.seconds(60)
  /// Bytes of a piece of a clip, and of those on their way that the room has not acknowledged: a link of 1 Mbit/s has sent
  /// them within half a second, and a flush never waits longer behind them.
  package static let clipPiece = 16 * 1024
  package static let clipWindow = 64 * 1024
  /// Clips that a receiver holds: one that sounds, one that follows, and two of a sender that has changed its mind.
  package static let heldClips = 4
  /// Nanoseconds: a longer one would be heard as a fade.
  package static let clipRamp: ClosedRange<Int64> = 0...2_000_000_000
  /// A room waits this long for the pieces and the time of a clip, and a clip begins no later than this after its time was
  /// told.
  package static let clipWait = Nanoseconds.seconds(60)
  /// Bytes: the largest header in use, Vorbis's code books, fits; FLAC needs 34 and Opus at most 276.
  package static let decoderConfiguration = 8 * 1024
  /// Codecs that a receiver may list.
  package static let codecs = 64
  /// Formats that a receiver remembers for one media connection: identifiers are 0 to 255.
  package static let formats = 256
  /// Frames of one packet: FLAC's largest block is 65 535.
  package static let framesPerPacket = 65_536

  /// Flicks: 51 years of stream.
  package static let mediaTime: ClosedRange<Int64> = 0...(1 << 60)
  /// Nanoseconds, of group and of local times: 36 years either side of the clock's origin.
  package static let clockTime: ClosedRange<Int64> = -(1 << 60)...(1 << 60)
  /// Nanoseconds, of measured spans. The upper end means "not known".
  package static let span: ClosedRange<Int64> = 0...(1 << 60)
  /// Nanoseconds, of a measured difference.
  package static let difference: ClosedRange<Int64> = -(1 << 60)...(1 << 60)
  /// Number of bytes, and of packets of a stream.
  package static let count: ClosedRange<UInt64> = 0...(1 << 60)
  /// Generations never wrap: a flush each second lasts for 68 years.
  package static let generation: ClosedRange<UInt32> = 0...(1 << 31 - 1)

  /// Nanoseconds: two seconds cover any amplifier and any room.
  package static let roomDelay: ClosedRange<Int64> = -2_000_000_000...2_000_000_000
  /// Nanoseconds: beyond ten seconds, no command would act in a useful time.
  package static let commitHorizon: ClosedRange<Int64> = 0...10_000_000_000
  /// Nanoseconds: beyond two seconds, nothing is gained over a deep buffer. 0 means that a stream is no longer live.
  package static let liveLatency: ClosedRange<Int64> = 0...2_000_000_000
  /// 0 is silent, 1000 is full.
  package static let volume: ClosedRange<UInt16> = 0...1000
  /// A limit of 0 would be a room that plays nothing, for which there is mute.
  package static let volumeLimit: ClosedRange<UInt16> = 10...1000
  /// Nanoseconds in which a volume rises: nobody takes longer than an hour to wake up.
  package static let rise: ClosedRange<Int64> = 1...3_600_000_000_000

  /// The sender sends something on control at least this often.
  package static let keepAliveInterval = Nanoseconds.seconds(2)
  /// The same for a daemon that leads a household of two: rooms must notice soon that it is gone.
  package static let leaderKeepAliveInterval = Nanoseconds.milliseconds(500)
  /// A room hears the daemon that leads for this long after its last message: three keep-alives may be delayed.
  package static let leaderSilence = Nanoseconds.seconds(2)
  /// The receiver sends its status this often.
  package static let statusInterval = Nanoseconds.seconds(1)
  /// A side that hears nothing on control for this long gives up: four keep-alives may be delayed by bad Wi-Fi, more
  /// may not.
  package static let silence = Nanoseconds.seconds(10)
  /// A room is kept at least this long for a sender that disappeared in the middle of its music: longer than a sender
  /// needs to come back after an outage that it notices by `silence`.
  package static let reservation = Nanoseconds.seconds(30)
  /// After a goodbye, a sender has this long to close its media connection: longer than the goodbye needs on a bad network.
  package static let parting = Nanoseconds.seconds(1)
}
