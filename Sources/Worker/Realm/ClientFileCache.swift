import Storage
import SyncModel

/// The client files of a realm that are in memory, and when each was last used.
struct ClientFileCache {
    private var entries: [FileIdent: ClientFileEntry] = [:]
    private var uses: UInt64 = 0

    subscript(ident: FileIdent) -> ClientFileEntry? { entries[ident] }

    /// Returns a client file that is needed now.
    mutating func use(_ ident: FileIdent) -> ClientFileEntry? {
        guard let index = entries.index(forKey: ident) else { return nil }
        uses &+= 1
        entries.values[index].lastUse = uses
        return entries.values[index]
    }

    /// Takes in what the store has of a client file; what is in memory may be newer.
    mutating func remember(_ record: ClientFileRecord) {
        if entries[record.ident] == nil { hold(ClientFileEntry(record: record)) }
    }

    /// Takes in a client file that is new: the store has no reciprocals of it.
    mutating func insert(_ record: ClientFileRecord) {
        var entry = ClientFileEntry(record: record)
        entry.load([:], after: 0)
        hold(entry)
    }

    private mutating func hold(_ entry: ClientFileEntry) {
        uses &+= 1
        entries[entry.record.ident] = entry
        entries[entry.record.ident]?.lastUse = uses
    }

    /// Changes a client file in place.
    ///
    /// - Returns: nil if it is not in memory.
    @discardableResult
    mutating func change<Result>(_ ident: FileIdent, _ body: (inout ClientFileEntry) -> Result) -> Result? {
        guard let index = entries.index(forKey: ident) else { return nil }
        return body(&entries.values[index])
    }

    mutating func forget(_ ident: FileIdent) { entries[ident] = nil }

    /// Forgets those that were not used for longest if there are more than so many, until half of that is left.
    mutating func trim(to most: Int) {
        guard entries.count > most else { return }
        let oldest = entries.sorted { $0.value.lastUse < $1.value.lastUse }
        for (ident, _) in oldest.prefix(entries.count - most / 2) { entries[ident] = nil }
    }
}
