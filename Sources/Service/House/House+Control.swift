import Clock
import Driver
package import House
import LinuxIO
import Sender

/// Answers terminals: their names and numbers become identities, orders are carried out as everybody's
/// are, and the answer is what a terminal shows.
extension House {
  package func answer(_ call: ControlCall, _ reply: @escaping (ControlReply) -> Void) {
    withTitles(ofFilesIn: call.request) { [unowned self] in
      for record in call.rooms ?? [] { host.know(record) }
      do throws(Refusal) {
        try answer(call) { result in reply(ControlReply(call.id, result)) }
      } catch {
        reply(ControlReply(call.id, .failure(error)))
      }
      titles.known = [:]
    }
  }

  private func answer(
    _ call: ControlCall, _ reply: @escaping (Result<ControlAnswer, Refusal>) -> Void
  ) throws(Refusal) {
    switch call.request {
    case .status:
      var answer = view(of: try session.group(named: call.group))
      (answer.groups, answer.rooms) = (groupLines, session.roomNames)
      answer.household = household
      reply(.success(answer))
    case .groups: reply(.success(ControlAnswer(groups: groupLines, household: household)))
    case .alarms: reply(.success(ControlAnswer(alarms: alarmLines)))
    case .inputs: reply(.success(ControlAnswer(inputs: measuredInputs)))
    case .queue: reply(.success(view(of: try session.group(named: call.group), hasQueue: true)))
    case .order(let said):
      let order = try said.resolved(by: names(meaning: call.group))
      perform(order) { [unowned self] result in
        reply(result.map { show($0, order, in: call.group) })
      }
    case .play(let request):
      let names = names(meaning: call.group)
      let entries = try request.entries.map { entry throws(Refusal) in
        try names.input(Order.NewEntry(entry))
      }
      play(request, entries, in: call.group) { [unowned self] result in
        reply(result.map { show($0, hasQueue: true, in: call.group) })
      }
    case .silence(let names):
      let (rooms, silenced) = meant(by: names)
      perform(.silence(names.isEmpty ? nil : rooms)) { result in
        reply(result.map { ControlAnswer(done: $0.said, silenced: silenced) })
      }
    case .save, .announce, .end, .access, .pairing, .library:
      throw .unavailable("only a daemon with a page can do that")
    }
  }

  /// - Parameter entries: those to play; those of the request are paths and names.
  func play(
    _ request: PlayRequest, _ entries: [Order.NewEntry], in group: String?,
    _ answer: @escaping (Result<Answer, Refusal>) -> Void
  ) {
    do throws(Refusal) {
      perform(.play(try identified(request), entries, group: group), answer)
    } catch {
      answer(.failure(error))
    }
  }

  private func show(_ answer: Answer, _ order: Order, in name: String?) -> ControlAnswer {
    var shown = show(answer, hasQueue: order.isAboutTheList, in: name)
    guard !order.namesRooms, let place = shown.group else { return shown }
    shown.done = shown.done.map { "\(place): \($0)" }
    return shown
  }

  private func show(
    _ answer: Answer, hasQueue: Bool, in name: String?
  ) -> ControlAnswer {
    let group = answer.group.flatMap { session.groups[$0.id] } ?? (try? session.group(named: name))
    var shown = group.map { view(of: $0, hasQueue: hasQueue) } ?? ControlAnswer()
    shown.done = answer.said
    return shown
  }

  private func view(of group: HouseGroup, hasQueue: Bool = false) -> ControlAnswer {
    ControlAnswer(
      queue: hasQueue ? group.shownQueue : nil, status: group.statusReport(),
      group: session.name(ofGroup: group.id))
  }

  package func groupID(named name: String?) throws(Refusal) -> String {
    try session.group(named: name).id
  }

  /// The same request with identities in place of names.
  package func identified(_ request: AnnounceRequest) throws(Refusal) -> AnnounceRequest {
    let names = names(meaning: nil)
    var request = request
    request.rooms = try request.rooms.map { name throws(Refusal) in
      try names.room(name, in: nil)
    }
    request.rooms += try request.addresses.map(id(ofAddress:))
    return request
  }

  private var household: ControlAnswer.Household { .init(publish().server) }

  private var groupLines: [ControlAnswer.GroupLine] {
    let meant = session.meantGroup?.id
    let state = publish()
    return state.groups.map { group in
      .init(
        name: group.name, state: group.state, title: group.item?.title,
        artist: group.item?.artist, rooms: group.roomIds.map(session.name(ofRoom:)),
        volume: group.volume, isMeant: group.id == meant,
        behindLiveS: group.behindLive(at: state.nowMs)?.rounded(to: 3),
        sleepInS: group.sleepAtMs.map { max(0, ($0 - state.nowMs) / 1000).rounded(to: 0) })
    }
  }

  private var alarmLines: [ControlAnswer.AlarmLine] {
    publish().alarms.map { .init(alarm: $0, rooms: $0.roomIds.map(session.name(ofRoom:))) }
  }

  // MARK: - Rooms as people name them

  /// The rooms of groups that are meant, and what a terminal is told of them. Rooms that are in no group, or that other
  /// senders have, are left to who asks.
  private func meant(by names: [String]) -> (rooms: [String], ControlAnswer.Silenced) {
    let all = session.plan.groups.flatMap(\.rooms)
    let known = self.names(meaning: nil)
    let own = names.filter { name in all.contains { known.isMeant($0, by: name) } }
    return (
      all.filter { room in own.contains { known.isMeant(room, by: $0) } },
      .init(
        rooms: own,
        receivers: session.plan.groups.flatMap { session.groups[$0.id]?.receivers ?? [] })
    )
  }

  /// With identities in place of names and addresses.
  private func identified(_ request: PlayRequest) throws(Refusal) -> PlayRequest {
    if let option = request.foregroundOptions.first {
      throw .invalid(
        option
          + (option == "--codec"
            ? " is set where the daemon starts: tutti serve --codec; "
            : " does not work through the daemon; leave it out, ")
          + "or play in this terminal with a --state-dir of its own")
    }
    // Wrong values are refused before wrong names.
    _ = try request.effects.applied(to: Effects())
    var request = request
    request.rooms = try request.rooms.map { name throws(Refusal) in
      let given = session.shownRoomIDs.filter {
        session.name(ofRoom: $0).lowercased() == name.lowercased()
      }
      if given.count == 1 { return given[0] }
      return try host.directory.only(name).id
    }
    request.rooms += try request.addresses.map(id(ofAddress:))
    return request
  }

  private func id(ofAddress text: String) throws(Refusal) -> String {
    let (host, port) = try RoomWish.address(text)
    return RoomWish.text(host: host, port: port)
  }

  private func names(meaning group: String?) -> HouseNames {
    let (directory, titles) = (host.directory, titles)
    return HouseNames(
      session, meant: group, receivers: { directory.records(meantBy: $0) },
      titled: { titles.titled($0.listed) })
  }
}

extension ControlReply {
  fileprivate init(_ id: UInt64, _ result: Result<ControlAnswer, Refusal>) {
    switch result {
    case .success(let answer): self.init(id: id, .done(answer: answer))
    case .failure(let refusal): self.init(id: id, .refused(error: refusal))
    }
  }
}
