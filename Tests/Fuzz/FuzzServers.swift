import PlaylistFormats

/// Feeds arbitrary bytes to what reads answers of servers of libraries, and checks the bounds of what it finds. Started by run.sh.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzServers(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let answer = try? SubsonicAnswer(bytes) else { return 0 }
  precondition(answer.songs.count <= min(answer.count, SubsonicAnswer.songLimit))
  for song in answer.songs {
    let ids = [song.id, song.albumId, song.cover]
    precondition(!song.id.isEmpty && ids.allSatisfy { $0.utf8.count <= ServedSong.idLimit })
    let texts = [song.title, song.artist, song.albumArtist, song.album, song.genre]
    precondition(texts.allSatisfy { $0.utf8.count <= ServedSong.textLimit })
    precondition((ids + texts + [song.suffix, song.folder]).allSatisfy { !$0.contains("\0") })
    let folders = song.folder.split(separator: "/", omittingEmptySubsequences: false)
    precondition(folders.count <= ServedSong.depthLimit && !folders.contains(".."))
    precondition(song.folder.utf8.count <= ServedSong.folderLimit)
    precondition(song.size >= 0 && song.createdS >= 0)
  }
  return 0
}
