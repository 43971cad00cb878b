package import Clock
package import WireProtocol

extension GroupSender {
  /// Everything that can happen to a group and its connections, except datagrams: those come by `answer`, `ask` and
  /// `transmitted`, which answer at once.
  package enum Input {
    /// Play in this room as well. `receiverID`, where known, is the only receiver that is taken for it. Where there is
    /// a `host`, it is looked up at each attempt.
    case roomAdded(
      RoomID, name: String, receiverID: Identifier?, at: [Address], host: RoomHost? = nil)
    /// Discovery has seen the room there: if it is not connected, now is the time to try.
    case roomFound(RoomID, at: [Address])
    /// The user asks for the room though another sender has it.
    case roomTaken(RoomID)
    /// Another sender had taken it, and has let go of it.
    case roomFreed(RoomID)
    /// Play in this room no more. Nothing more is said about it.
    case roomRemoved(RoomID)
    /// The answer to `lookUp`; `failure` says in words why it was in vain.
    case lookedUp(RoomID, [Address], failure: String?)
    /// Its handshake is complete. `proof` shows that this sender can read what only the receiver's own user can, where the
    /// driver can.
    case connected(RoomConnectionID, SecuredPeer, proof: [UInt8]? = nil)
    case connectFailed(RoomConnectionID, reason: String)
    case received(RoomConnectionID, [UInt8])
    case closed(RoomConnectionID, reason: String)
    case produced(ProducedBatch)
    /// The answer to `makeSmall`.
    case madeSmall(SmallBatch)
    /// So much of the station at this address can be heard again; nil if nothing can.
    case kept(String, KeptStretch?)
    /// The answer is `reply`, before anything else is taken.
    case command(CommandID, PlayerCommand)
    /// The machine slept for so long: its clock stood still, and the rooms played on.
    case resumedFromSuspend(after: Nanoseconds)
    /// A turn of the driver's loop is over, or `nextDeadline` has come. All of `mediaConnections` are told, and how many
    /// bytes of packets the group may hold: see `StoreBudget`.
    case turn([MediaQueue], storeLimit: Int = StoreBudget.bytes)
  }

  /// Everything that a group wants done, in this order.
  package enum Output: Equatable {
    /// The answer is `connected` or `connectFailed`.
    case connect(RoomConnectionID, Address, for: Channel)
    case send(RoomConnectionID, [UInt8])
    /// From the socket on which rooms ask for packets; one that cannot leave at once is of no use.
    case sendDatagram([UInt8], to: Address)
    /// Close after what was sent has left; an attempt to connect ends at once. Nothing more is heard of it.
    case close(RoomConnectionID)
    /// As the session says.
    case hold(Nanoseconds)
    /// As the session says.
    case keep(StreamRecord?)
    /// The answer is `lookedUp`.
    case lookUp(RoomID, RoomHost)
    /// Send no faster than this from now on.
    case pace(RoomConnectionID, bytesPerSecond: UInt32)
    /// Send this much, or until nothing is left; no more before the next turn. No limit where it is nil.
    case setTurn(RoomConnectionID, bytes: Int?)
    /// See `GroupSession.Output`.
    case produce(ProductionOrder)
    /// See `GroupSession.Output`.
    case makeSmall(SmallOrder)
    /// As the session says.
    case outdated(by: Term)
    case reply(CommandID, CommandReply)
    /// For the display and the log.
    case event(SenderEvent)
  }
}
