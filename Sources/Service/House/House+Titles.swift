import Clock
import Driver
import Sender

/// What terminals see of a group: its list with the titles that the household knows, not file names.
extension House {
  func queue(of group: HouseGroup) -> [QueueEntry] {
    let current = group.place(group.player.status)?.entry
    return group.player.queue.map { entry in
      var entry = entry
      entry.current = entry.id == current
      guard let known = group.details[entry.id] else { return entry }
      entry.title = known.title ?? entry.title
      entry.artist = known.artist ?? entry.artist
      entry.durationS = known.durationS ?? entry.durationS
      return entry
    }
  }

  func statusReport(of group: HouseGroup) -> StatusReport {
    let status = group.player.status
    var report = group.player.statusReport
    if let item = status.item?.item, let known = group.details[item.id] {
      report.title = known.title ?? report.title
      report.artist = known.artist ?? report.artist
      report.album = known.album ?? report.album
    }
    if let next = status.next?.item, let known = group.details[next.id] {
      report.nextTitle = known.title ?? report.nextTitle
      report.nextArtist = known.artist ?? report.nextArtist
      report.nextDurationS = report.nextDurationS ?? known.durationS
    }
    return report
  }
}
