package import House

extension QueuePage.Entry {
  /// One that is to be kept in a playlist.
  package init(_ entry: Order.NewEntry, id: Int = 0) {
    self.init(
      id: id,
      title: entry.title ?? ItemName.text(title: nil, artist: nil, location: entry.location),
      uri: entry.location,
      isCurrent: false)
    (artist, album, durationS) = (entry.artist, entry.album, entry.durationS)
    (artwork, trackId, reach) = (entry.artwork, entry.trackId, entry.reach)
  }
}
