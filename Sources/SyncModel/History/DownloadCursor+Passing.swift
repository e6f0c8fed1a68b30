extension DownloadCursor {
    /// Moves over the entry of the realm's history that comes next. A client file gets the entries that others wrote and that
    /// say something; of its own it learns that they are integrated.
    ///
    /// - Parameters:
    ///   - clientVersion: the entry's version at its author.
    ///   - isEmpty: whether the entry is a version alone, of which merging has left nothing.
    /// - Returns: whether the client file `receiver` gets the entry. The cursor then says what of the receiver's own history the
    ///   entry is based on.
    package mutating func pass(
        _ author: FileIdent, _ clientVersion: ClientVersion, isEmpty: Bool, for receiver: FileIdent
    ) -> Bool {
        serverVersion = ServerVersion(serverVersion.rawValue &+ 1)
        if author == receiver { self.clientVersion = max(self.clientVersion, clientVersion) }
        return author != receiver && !isEmpty
    }
}
