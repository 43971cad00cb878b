package import Audio
package import Clock
package import Pairing
package import WireProtocol

extension ReceiverSession {
  package struct Configuration: Sendable {
    package var receiverID: Identifier
    package var name: String
    package var model: String
    package var capacity: Capacity
    package var codecs: [Codec]
    /// Returns the codecs still available. The session asks after a decoder could not be made: the loss of one may
    /// be the loss of a library.
    package var remainingCodecs: @Sendable () -> [Codec]
    package var makeDecoder: DecodeStage.MakeDecoder
    /// Time for which the sound device stays open with nothing to play.
    package var idleTime: Nanoseconds
    /// Interval of the log's figures while the room plays.
    package var figuresInterval: Nanoseconds
    package var profile: LatencyProfile
    /// Seed of the jitter of time requests.
    package var seed: UInt64
    package var access: AccessPolicy
    package var whenBusy: BusyPolicy
    /// A secret that a sender of this machine's own user can read; nil if there is none.
    package var token: [UInt8]?
    /// Nil if live streams come over the media connection, as others do.
    package var cipher: (any DatagramCipher)?
    /// True if the sound device is reopened for a live stream, and after it.
    package var reopensDevice = true
    /// Nil if no sender can pair, or prove to be of this machine's own user.
    package var arithmetic: (any PairingArithmetic)?
    /// True if the driver can say the PIN aloud.
    package var canSpeak: Bool
    /// True if the driver gives each device a ring for clips.
    package var playsClips: Bool
    /// The time from the beginning of the room's FIR filter to its peak; nil if it has none.
    package var timeToPeak: Nanoseconds?

    package init(
      receiverID: Identifier, name: String, model: String, capacity: Capacity, codecs: [Codec],
      remainingCodecs: (@Sendable () -> [Codec])? = nil,
      makeDecoder: @escaping DecodeStage.MakeDecoder, idleTime: Nanoseconds,
      figuresInterval: Nanoseconds = .seconds(600), profile: LatencyProfile = .deep, seed: UInt64,
      access: AccessPolicy = .paired, whenBusy: BusyPolicy = .refuse, token: [UInt8]? = nil,
      arithmetic: (any PairingArithmetic)? = nil, cipher: (any DatagramCipher)? = nil,
      reopensDevice: Bool = true, canSpeak: Bool = false, playsClips: Bool = false,
      timeToPeak: Nanoseconds? = nil
    ) {
      self.timeToPeak = timeToPeak
      self.playsClips = playsClips
      self.canSpeak = canSpeak
      self.cipher = cipher
      self.reopensDevice = reopensDevice
      self.access = access
      self.whenBusy = whenBusy
      self.token = token
      self.arithmetic = arithmetic
      self.remainingCodecs = remainingCodecs ?? { codecs }
      self.receiverID = receiverID
      self.name = name
      self.model = model
      self.capacity = capacity
      self.codecs = codecs
      self.makeDecoder = makeDecoder
      self.idleTime = idleTime
      self.figuresInterval = figuresInterval
      self.profile = profile
      self.seed = seed
    }
  }
}
