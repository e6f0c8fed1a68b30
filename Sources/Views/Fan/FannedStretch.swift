package import Changesets
package import RealmState
package import SyncModel

/// The effect of one commit on a flexible realm, as its notice tells: whom it concerns, and what they get.
package struct FannedStretch: Sendable {
    package struct Touch: Sendable {
        package var version: ServerVersion
        package var author: FileIdent
        package var image: BeforeImages.Image
        /// The object before the version, as far as views look at it; nil if there was none.
        package fileprivate(set) var before: StoredObject?
    }

    /// The version that it follows.
    package let follows: ServerVersion
    package let latest: ServerVersion
    /// The entries of all of the commit's versions; none if they were too large for the notice.
    package let entries: [HistoryEntry]
    /// The client files that it answers: their uploads were integrated, or undone.
    package let addressed: Set<FileIdent>
    package let touches: [ObjectSlot: [Touch]]
    /// The objects that each client file has touched, by client file.
    package let authors: [FileIdent: Set<ObjectSlot>]
    /// The objects that there are, as they are now.
    private let now: [ObjectSlot: StoredObject]

    /// - Parameters:
    ///   - before: of every version, the encoded images of what it touches.
    ///   - now: the encoded images of all that is touched, as it is after the last version.
    /// - Throws: if they cannot be read.
    package init(
        follows: ServerVersion, latest: ServerVersion, entries: [HistoryEntry], before: [[UInt8]], now: [UInt8],
        addressed: Set<FileIdent>
    ) throws(ChangesetError) {
        self.follows = follows
        self.latest = latest
        self.entries = entries
        self.addressed = addressed
        guard follows <= latest, UInt64(before.count) == latest.rawValue - follows.rawValue,
            entries.isEmpty || entries.count == before.count
        else { throw ChangesetError(.malformed, "images of other versions", offset: 0) }
        var touches: [ObjectSlot: [Touch]] = [:]
        var authors: [FileIdent: Set<ObjectSlot>] = [:]
        for (index, bytes) in before.enumerated() {
            // Only a version's entry tells who has written it; without the entry everybody is taken for somebody else.
            let author = entries.isEmpty ? .server : entries[index].originFile
            authors[author, default: []].formUnion([])
            for image in try BeforeImages(decoding: bytes).images {
                touches[image.slot, default: []].append(
                    Touch(version: follows + UInt64(index + 1), author: author, image: image))
                authors[author, default: []].insert(image.slot)
            }
        }
        let ends: [ObjectSlot: StoredObject] = try BeforeImages(decoding: now).images.reduce(into: [:]) {
            $0[$1.slot] = $1.before
        }
        for slot in touches.keys {
            guard let states = touches[slot].map({ BeforeImages.resolved($0.map(\.image), now: ends[slot]) }) else {
                continue
            }
            for (index, state) in states.enumerated() { touches[slot]?[index].before = state }
        }
        self.touches = touches
        self.authors = authors
        self.now = ends
    }

    /// An object before each version that touches it, and now.
    package func states(of slot: ObjectSlot) -> [StoredObject] {
        (touches[slot] ?? []).compactMap(\.before) + (now[slot].map { [$0] } ?? [])
    }

    /// Some version undoes writes of some of those whom the commit answers.
    package var undoes: Bool { entries.contains { $0.originFile == .server && $0.changeset.isEmpty } }

    // MARK: For one client

    /// A client's part of it.
    package struct Part: Sendable {
        package var entries: [HistoryEntry] = []
        /// The client's newest version that is integrated up to the end.
        package var clientVersion: ClientVersion
    }

    /// The part of a client that stands where the commit follows; nil if that is more than the commit tells, and its owner has to be asked:
    /// objects that enter the view, and what was undone.
    ///
    /// - Parameters:
    ///   - clientVersion: the client's own newest version that was integrated before.
    ///   - slots: the objects that may have been in the view, and those that the client has touched.
    ///   - split: of an entry, the changeset by objects; nil if it cannot be read.
    package func part(
        for file: FileIdent, at clientVersion: ClientVersion, _ slots: [ObjectSlot], in view: View,
        split: (Int) -> SplitChangeset?
    ) -> Part? {
        guard entries.last?.serverVersion == latest, !(undoes && addressed.contains(file)) else { return nil }
        var stretch = ViewStretch(after: follows, for: file, in: view)
        for slot in slots {
            for touch in touches[slot] ?? [] {
                stretch.touch(touch.version, by: touch.author, touch.image)
            }
        }
        guard let passages = stretch.passages(now: { now[$0] }) else { return nil }
        var erased = ChangesetSelection()
        for (slot, passage) in passages {
            switch passage {
            case .enters: return nil
            case .leaves:
                guard let table = view[slot.table]?.table else { return nil }
                erased.erase(ObjectAddress(table.name, slot.key))
            case .passes, .nothing: break
            }
        }
        var part = Part(clientVersion: clientVersion)
        var timestamp: SyncTimestamp = 0
        for (index, entry) in entries.enumerated() {
            timestamp = max(timestamp, entry.timestamp)
            guard entry.originFile != file else {
                part.clientVersion = max(part.clientVersion, entry.clientVersion)
                continue
            }
            guard !entry.changeset.isEmpty else { continue }
            guard let bytes = try? split(index)?.selection(entry.serverVersion, passages, in: view) else { return nil }
            if !bytes.isEmpty { part.append(entry, bytes) }
        }
        if !erased.isEmpty {
            part.append(
                HistoryEntry(
                    serverVersion: latest, clientVersion: 0, originFile: .server, timestamp: timestamp, changeset: []),
                erased.bytes)
        }
        return part
    }
}

extension FannedStretch.Part {
    fileprivate mutating func append(_ entry: HistoryEntry, _ changeset: [UInt8]) {
        var received = entry
        received.changeset = changeset
        received.clientVersion = clientVersion
        entries.append(received)
    }
}
