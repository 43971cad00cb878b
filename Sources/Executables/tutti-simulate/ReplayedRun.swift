import ArgumentParser
import Disturbances
import Foundation
import Simulation

/// The options of a run, with what the record says where they leave something open.
struct RunSetting {
  var name: String
  var seed: UInt64
  /// Nil: as drawn, or four.
  var rooms: Int?
  var cards: [CardQuality.Granularity]
  var hours: Double?
  /// The record of the group that is played; nil without `--replay`.
  var record: DisturbanceRecord?

  func scenario(_ seed: UInt64) -> Scenario? {
    guard let record else {
      let rooms = rooms ?? Scenario.usualRoomCount(name, seed: seed)
      return Scenario(name, seed: seed, rooms: rooms, hours: hours, cards: cards)
    }
    return Scenario(
      replaying: record, in: name, seed: seed, rooms: rooms ?? max(1, record.roomCount),
      seconds: hours.map { $0 * 3600 }, cards: cards)
  }
}

extension SimulateCommand {
  func setting() throws -> RunSetting {
    let record = try replay.map(recorded)
    let run = record?.simulated
    let cards = run?.cards.compactMap(CardQuality.Granularity.init) ?? []
    let known = cards.isEmpty ? [CardQuality.Granularity.fine, .edge] : cards
    let setting = RunSetting(
      name: scenario ?? run?.scenario ?? (record == nil ? "swarm" : "wired"),
      seed: seed ?? run?.seed ?? 1, rooms: rooms,
      cards: card.isEmpty ? known : card, hours: hours, record: record)
    guard Scenario.names.contains(setting.name), setting.seed <= .max / 2 else {
      throw ValidationError("\(replay ?? ""): there is no scenario \(setting.name) of that seed")
    }
    if let record, let rooms, rooms < record.roomCount {
      throw ValidationError("the record has \(record.roomCount) rooms: --rooms is not less")
    }
    return setting
  }

  /// The record of the group that is meant.
  private func recorded(_ path: String) throws -> DisturbanceRecord {
    let record: DisturbanceRecord
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      // One byte more than may be says that there are too many.
      let bytes = try file.read(upToCount: DisturbanceRecord.byteLimit + 1) ?? Data()
      record = try DisturbanceRecord(parsing: [UInt8](bytes))
    } catch let error as RecordError {
      throw ValidationError("\(path): \(error)")
    } catch {
      throw ValidationError("\(path) cannot be read: \(error.localizedDescription)")
    }
    let played = record.only(group: try number(ofGroupIn: record))
    if played.simulated == nil, played.roomCount == 0 {
      throw ValidationError("\(path): no room is in that group")
    }
    return played
  }

  private func number(ofGroupIn record: DisturbanceRecord) throws -> Int {
    guard let group else { return 0 }
    if let place = record.groups.firstIndex(of: group) { return place }
    let count = max(1, record.groups.count)
    guard let number = Int(group), (0..<count).contains(number) else {
      let names = record.groups.map { "\"\($0)\"" }.joined(separator: ", ")
      throw ValidationError("the record has no group \(group); it has: \(names)")
    }
    return number
  }

  func write(_ record: DisturbanceRecord, to path: String) throws {
    var record = record
    record.program = "tutti-simulate" + (Checkout.commit.map { " \($0)" } ?? "")
    do {
      try Data(record.text.utf8).write(to: URL(filePath: path))
    } catch {
      throw ValidationError("\(path) cannot be written: \(error.localizedDescription)")
    }
  }
}
