package import Audio
package import Clock
package import Pairing
package import WireProtocol

/// One TCP connection to the receiver, as its driver numbers them. Numbers are never reused.
package struct ConnectionID: Hashable, Comparable, Sendable {
  package var number: Int

  package init(_ number: Int) { self.number = number }

  package static func < (a: ConnectionID, b: ConnectionID) -> Bool { a.number < b.number }
}

extension ReceiverSession {
  /// All inputs of a receiver.
  package enum Input {
    /// Somebody connected; `peer` is its name for people. `network` is the key by which connections are counted;
    /// nil means the peer.
    case accepted(ConnectionID, peer: String, network: String? = nil)
    /// The handshake is complete.
    case secured(ConnectionID, SecuredPeer)
    /// Decrypted bytes arrived.
    case received(ConnectionID, [UInt8])
    /// The peer or the network closed the connection.
    case closed(ConnectionID)
    /// A datagram arrived on the clock socket or on that of live streams. The time is the kernel's stamp if there
    /// is one.
    case datagram([UInt8], receivedAt: LocalTime)
    /// The kernel's transmit stamp of a time request.
    case transmitted(sequence: UInt32, at: LocalTime)
    /// The sound device runs; decoded frames go into `ring` from now on, and those of clips into the other one. Without
    /// that, the room plays no clips.
    case deviceOpened(OutputDevice, ring: FrameRing, clips: FrameRing? = nil)
    /// The sound device is gone or never came; the driver keeps trying until `closeDevice`.
    case deviceLost(reason: String)
    case rendered(RenderReport)
    /// The machine slept: its clock stood still while the sender's ran.
    case resumedFromSuspend
    /// Everything up to the `keepTrust` of this number is on disk.
    case trustKept(Int)
    /// A user has changed the trusted senders or the PIN.
    case trustChanged(TrustMemory)
    /// All new inputs have been handed over, or `nextDeadline` has come.
    case timeout
  }

  /// All outputs of a receiver, to be carried out in order.
  package enum Output {
    case send(ConnectionID, [UInt8])
    /// Close once all sent bytes have left.
    case close(ConnectionID)
    /// Send a time request to this UDP port of the host at the other end of the connection.
    case sendTimeRequest([UInt8], sequence: UInt32, toHostOf: ConnectionID, port: UInt16)
    /// Send an ask for packets of a live stream, in the same way, from the socket of live streams.
    case sendAsk([UInt8], toHostOf: ConnectionID, port: UInt16)
    /// Open the sound device at this rate or the nearest possible, with the lead of the profile. The answer is
    /// `deviceOpened` or `deviceLost`.
    case openDevice(rate: Int, LatencyProfile)
    case closeDevice
    case render(RenderCommand)
    /// Show in discovery if the room is busy.
    case advertise(isBusy: Bool)
    /// Show in discovery which codecs this room decodes.
    case advertiseCodecs([Codec])
    /// Store this for the next start.
    case persist(ReceiverMemory)
    /// Store this durably, now; the answer is `trustKept`, or none if that fails.
    case keepTrust(TrustMemory, Int)
    /// Say the PIN aloud, twice, with this gain, 0...1; stop where `openDevice` follows.
    case sayPIN(gain: Float)
    /// The item that is heard from now on; nil if there is none.
    case nowPlaying(SoundingItem?)
    /// An event for the log.
    case event(ReceiverEvent)
  }
}

/// The sound device as the driver opened it.
package struct OutputDevice: Hashable, Sendable {
  /// Sample rate and channels that the renderer fills.
  package var format: AudioFormat
  /// Time before its sound at which a change must reach the render thread.
  package var commitHorizon: Nanoseconds
  /// Time before their sound at which frames must be in the ring.
  package var writtenAhead: Nanoseconds

  package init(
    format: AudioFormat, commitHorizon: Nanoseconds, writtenAhead: Nanoseconds = .zero
  ) {
    self.writtenAhead = writtenAhead
    self.format = format
    self.commitHorizon = commitHorizon
  }
}

/// Data that a receiver keeps over a restart.
package struct ReceiverMemory: Hashable, Sendable {
  package var settings: RoomSettings
  /// False until somebody has set a volume: then the room begins with the start volume each time.
  package var hasVolume = false
  /// Drift of this machine's clock against those of senders it has met, newest first; at most sixteen.
  package var clockDrifts: [ClockDrift]
  /// Drift of the sound device against this machine's clock; dimensionless.
  package var deviceDrift: Double?
  /// The terms of households with two daemons, newest first; at most `termLimit`.
  package var terms: [SenderTerm] = []

  package struct ClockDrift: Hashable, Sendable {
    package var sender: Identifier
    /// Dimensionless: 1e-6 is one ppm.
    package var drift: Double

    package init(sender: Identifier, drift: Double) {
      self.sender = sender
      self.drift = drift
    }
  }

  package init(
    settings: RoomSettings = .default, clockDrifts: [ClockDrift] = [], deviceDrift: Double? = nil
  ) {
    self.settings = settings
    self.clockDrifts = clockDrifts
    self.deviceDrift = deviceDrift
    self.settings.limitVolume()
  }

  /// Takes settings that a sender has said.
  mutating func take(_ said: RoomSettings) {
    let changed = settings.changed(to: said)
    hasVolume = hasVolume || changed.volume != settings.volume
    settings = changed
  }
}

/// An event for the log.
package enum ReceiverEvent: Hashable, Sendable {
  case senderConnected(name: String, peer: String)
  case senderGone(name: String, reason: String)
  case senderRefused(peer: String, reason: String)
  /// A sender may play here from now on.
  case paired(name: String, peer: String)
  case pairingFailed(peer: String, reason: String)
  /// A sender has asked to be forgotten.
  case unpaired(name: String)
  /// Somebody has asked to hear the PIN.
  case saysPIN(peer: String)
  case keptSilent(peer: String, reason: String)
  case playing
  case paused
  case starved
  case finished
  case clockLocked(errorBound: Nanoseconds)
  case clockStepped
  case clockLost
  case deviceOpened(rate: Int, channels: Int)
  case deviceLost(reason: String)
  case flushed(from: MediaTime, generation: UInt32)
  case underrun(total: UInt32)
  case packetLate(by: Nanoseconds, total: UInt32)
  case packetCorrupt(reason: String, total: UInt32)
  /// A decoder could not be made, and the sender was told to use other codecs.
  case codecWithdrawn(Codec, reason: String)
  /// Figures of the room, at intervals while it plays.
  case figures(RoomFigures)
  /// A new trouble has begun.
  case worse(RoomFaults, RoomStatus)
  /// The trouble has been over for a while: its length and its faults.
  case wellAgain(after: Nanoseconds, RoomFaults)
}
