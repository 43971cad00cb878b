import House
import MPDProtocol
import Service
import WebServer

/// One client, with all that the protocol lets it set for itself. Carries out its commands, one after the other.
struct Client: Sendable {
  static let greeting = "OK MPD 0.23.5\n"
  /// Bytes of a picture in one answer, until the client asks for more.
  static let usualBinaryLimit = 8_192
  static let binaryLimits = 64...1 << 20

  let household: Household
  let number: Int
  let address: String
  let isLocal: Bool
  var asker = Asker.stranger
  var tags = Set(TagType.allCases)
  var binaryLimit = usualBinaryLimit
  var reply = Reply()
  /// The entry of which it has cleared the error, and its group: each group counts its own.
  var clearedFailure: (group: String, entry: Int)?
  var isClosing = false

  init(_ household: Household, number: Int, address: String, isLocal: Bool) {
    self.household = household
    (self.number, self.address, self.isLocal) = (number, address, isLocal)
    asker = currentAsker
  }

  // MARK: - Access

  /// As over HTTP: if a token is configured, programs on this machine need it too.
  private var currentAsker: Asker {
    let access = household.access
    if asker == .token { return .token }
    if isLocal, access.token == nil { return .machine }
    return access.isOpen ? .guest : .stranger
  }

  /// False if somebody who may ask for the state may do so no more.
  var isStillAllowed: Bool { currentAsker.may(.guest) }

  mutating func checkAccess() { asker = currentAsker }

  func need(_ permission: Permission, to what: String) throws {
    try asker.need(permission, to: what)
  }

  // MARK: - Running commands

  /// Carries out lines in order, up to the first that fails. Returns the answer.
  /// - Parameter isThere: false once the client is gone: nobody needs what follows.
  mutating func run(
    _ lines: [[UInt8]], saysEach: Bool, while isThere: () -> Bool = { true }
  ) async -> [UInt8] {
    reply = Reply()
    for (place, line) in lines.enumerated() where isThere() {
      let mark = reply.bytes.count
      var name = ""
      do {
        let words = try CommandWords(line: line)
        guard let command = CommandTable.commands[words.name] else {
          throw Ack(.unknown, "unknown command \"\(words.name)\"")
        }
        name = words.name
        checkAccess()
        try command.check(words, asker)
        try await command.run(&self, words.arguments)
        try reply.check()
        if isClosing { return [] }
        if saysEach { reply.add("list_OK\n") }
      } catch {
        reply.cut(to: mark)
        reply.add(Self.ack(error).line(place: place, command: name))
        return reply.bytes
      }
    }
    reply.add("OK\n")
    return reply.bytes
  }

  private static func ack(_ error: any Error) -> Ack {
    switch error {
    case let ack as Ack: ack
    case let refusal as Refusal: Ack(refusal)
    default: Ack(.system, "This cannot be done now; try again.")
    }
  }

  // MARK: - The household

  func state() async throws -> HouseState { try await household.house.state() }

  func perform(_ order: Order) async throws -> Answer { try await household.house.perform(order) }

  /// The state, and the client's group in it; nil if the household has no group.
  func view() async throws -> (state: HouseState, group: HouseState.Group?) {
    let state = try await state()
    return (state, await household.hub.group(ofListener: number, state))
  }

  func group() async throws -> (state: HouseState, group: HouseState.Group) {
    let (state, group) = try await view()
    guard let group else {
      throw Ack(.system, "There is no group of rooms yet; enable an output first.")
    }
    return (state, group)
  }

  func queue() async throws -> (group: HouseState.Group, queue: QueueView) {
    let (state, group) = try await group()
    return (group, try await queue(of: group, state))
  }

  func queue(of group: HouseState.Group, _ state: HouseState) async throws -> QueueView {
    try await household.queues.queue(of: group, LibraryPaths(state))
  }

  @discardableResult
  func edit(_ edit: Order.QueueEdit, _ group: HouseState.Group) async throws -> Answer {
    try await perform(.edit(group: group.id, edit, expected: nil))
  }

  func change(_ change: Order.GroupChange) async throws {
    _ = try await perform(.change(group: try await group().group.id, change))
  }
}
