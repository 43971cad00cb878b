package import Audio
package import Clock
package import Pairing
package import WireProtocol

/// One TCP connection to the receiver, as its driver numbers them. Never used twice.
package struct ConnectionID: Hashable, Comparable, Sendable {
  package var number: Int

  package init(_ number: Int) { self.number = number }

  package static func < (a: ConnectionID, b: ConnectionID) -> Bool { a.number < b.number }
}

extension ReceiverSession {
  /// Everything that can happen to a receiver.
  package enum Input {
    /// Somebody connected; `peer` is for people.
    /// `network` is what connections are counted by, which is the peer where it is nil.
    case accepted(ConnectionID, peer: String, network: String? = nil)
    /// Its handshake is complete.
    case secured(ConnectionID, SecuredPeer)
    /// Plain text arrived.
    case received(ConnectionID, [UInt8])
    /// The other side closed, or the network did.
    case closed(ConnectionID)
    /// A datagram arrived on the clock socket or that of live streams, by the kernel's stamp where there is one.
    case datagram([UInt8], receivedAt: LocalTime)
    /// The kernel's transmit stamp of a time request.
    case transmitted(sequence: UInt32, at: LocalTime)
    /// The sound device runs; decoded frames go into `ring` from now on.
    case deviceOpened(OutputDevice, ring: FrameRing)
    /// The sound device is gone or never came; the driver goes on trying until `closeDevice`.
    case deviceLost(reason: String)
    case rendered(RenderReport)
    /// The machine slept: its clock did not run while the sender's did.
    case resumedFromSuspend
    /// Everything up to the `keepTrust` of this number is on disk.
    case trustKept(Int)
    /// A person has changed who is trusted, or the PIN.
    case trustChanged(TrustMemory)
    /// All that came up has been told, or `nextDeadline` has come.
    case timeout
  }

  /// Everything that a receiver wants done, in this order.
  package enum Output {
    case send(ConnectionID, [UInt8])
    /// Close after what was sent has left.
    case close(ConnectionID)
    /// A time request, to this UDP port of the host at the other end of the connection.
    case sendTimeRequest([UInt8], sequence: UInt32, toHostOf: ConnectionID, port: UInt16)
    /// What asks for packets of a live stream, in the same way, from the socket of live streams.
    case sendAsk([UInt8], toHostOf: ConnectionID, port: UInt16)
    /// Open the sound device at this rate or the nearest it can, written ahead as the profile says; the answer is
    /// `deviceOpened` or `deviceLost`.
    case openDevice(rate: Int, LatencyProfile)
    case closeDevice
    case render(RenderCommand)
    /// What discovery shows.
    case advertise(isBusy: Bool)
    /// What discovery shows that is decoded here.
    case advertiseCodecs([Codec])
    /// Keep this for the next start.
    case persist(ReceiverMemory)
    /// Keep this for good, now; the answer is `trustKept`. Where that fails there is no answer.
    case keepTrust(TrustMemory, Int)
    /// What is heard in this room, from now on; nil where nothing is any more.
    case nowPlaying(SoundingItem?)
    /// For the log.
    case event(ReceiverEvent)
  }
}

/// The sound device as the driver opened it.
package struct OutputDevice: Hashable, Sendable {
  /// Frames a second and channels that the renderer fills.
  package var format: AudioFormat
  /// How long before it is to be heard a change must reach the render thread.
  package var commitHorizon: Nanoseconds
  /// How long before they are to be heard frames must be there.
  package var writtenAhead: Nanoseconds

  package init(
    format: AudioFormat, commitHorizon: Nanoseconds, writtenAhead: Nanoseconds = .zero
  ) {
    self.writtenAhead = writtenAhead
    self.format = format
    self.commitHorizon = commitHorizon
  }
}

/// What a receiver remembers over a restart.
package struct ReceiverMemory: Hashable, Sendable {
  package var settings: RoomSettings
  /// Drift of this machine's clock against the clocks of senders it has met, newest first, at most sixteen.
  package var clockDrifts: [ClockDrift]
  /// Drift of the sound device against this machine's clock, dimensionless.
  package var deviceDrift: Double?

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
  }
}

/// What people may want to read in the log.
package enum ReceiverEvent: Hashable, Sendable {
  case senderConnected(name: String, peer: String)
  case senderGone(name: String, reason: String)
  case senderRefused(peer: String, reason: String)
  /// A sender may play here from now on.
  case paired(name: String, peer: String)
  case pairingFailed(peer: String, reason: String)
  /// A sender has asked to be forgotten.
  case unpaired(name: String)
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
  /// A decoder could not be made: the sender was told to use others.
  case codecWithdrawn(Codec, reason: String)
  /// How the room has been, at intervals while it plays.
  case figures(RoomFigures)
  /// Something goes wrong that did not before.
  case worse(RoomFaults, RoomStatus)
  /// Nothing has gone wrong any more for a while: how long it did, and how much.
  case wellAgain(after: Nanoseconds, RoomFaults)
}
