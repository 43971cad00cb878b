import ExpatFeeds
import House
import PlaylistFormats
import Sender

/// Feeds arbitrary bytes to what reads answers of servers of libraries, and checks the bounds of what it finds. Started by run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServers(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  fuzzShelf(bytes)
  if let address = ServerSearch.answer(in: bytes, from: 0xC0A8_0105, reach: .network)?.address {
    precondition(address.host == "192.168.1.5" && !address.isSecure)
    precondition(bytes.count <= ServerSearch.byteLimit)
    let name = FoundServer(called: String(decoding: bytes, as: UTF8.self), at: address).name
    precondition(MediaServer.isName(name))
  }
  guard let answer = try? SubsonicAnswer(bytes) else { return 0 }
  precondition(answer.songs.count <= min(answer.count, SubsonicAnswer.songLimit))
  for song in answer.songs {
    check(song)
    precondition([song.id, song.cover].allSatisfy { $0.utf8.count <= ServedSong.idLimit })
  }
  return 0
}

private func check(_ song: ServedSong) {
  precondition(!song.id.isEmpty && song.albumId.utf8.count <= ServedSong.idLimit)
  let texts = [song.title, song.artist, song.albumArtist, song.album, song.genre]
  precondition(texts.allSatisfy { $0.utf8.count <= ServedSong.textLimit })
  let others = [song.id, song.albumId, song.cover, song.suffix, song.folder]
  precondition((texts + others).allSatisfy { !$0.contains("\0") })
  let folders = song.folder.split(separator: "/", omittingEmptySubsequences: false)
  precondition(folders.count <= ServedSong.depthLimit && !folders.contains(".."))
  precondition(song.folder.utf8.count <= ServedSong.folderLimit)
  precondition(song.size >= 0 && song.createdS >= 0)
}

/// Media servers of UPnP.
private func fuzzShelf(_ bytes: [UInt8]) {
  if let answer = HTTPAnswer(bytes) { precondition(answer.body.count <= bytes.count) }
  if let device = try? DeviceDescription(bytes) { precondition(!device.control.isEmpty) }
  if let answer = try? ShelfAnswer(bytes) {
    precondition(answer.total >= 0 && answer.result.count <= bytes.count)
  }
  let path = { (text: String) in text.hasPrefix("/") && text.utf8.count < 200 ? text : nil }
  guard let page = try? ShelfPage(bytes, path: path) else { return }
  precondition(page.songs.count == page.objects.count)
  precondition(page.songs.count + page.containers.count <= min(page.count, ShelfPage.objectLimit))
  precondition((page.objects + page.containers).allSatisfy { $0.utf8.count <= ShelfPage.idLimit })
  for song in page.songs {
    check(song)
    precondition(song.durationS.map { $0 > 0 && $0.isFinite } ?? true)
  }
}
