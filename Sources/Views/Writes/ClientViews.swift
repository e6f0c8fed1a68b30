package import Changesets
package import SyncModel

/// The part that a flexible realm keeps of one client file beside its row: the views that it has had since what its uploads may still be based on,
/// and the compensating writes that it may not have.
package struct ClientViews: Sendable {
    package var views: ViewHistory<ViewDefinition>
    /// The user's rights by the latest session, `ClosedRoles.text`. Newer than the latest view's if the client has not been sent yet
    /// what they change.
    package var roles: String
    /// A set's data that was begun to be sent, and that the client has not said that it has.
    package var begun: BegunBootstrap?
    /// The schema version that the client named when the file was made, or has named since while nobody looked at it; nil: none is known.
    package var schemaVersion: UInt64?
    /// The partition of a client that came from partition sync: the objects that the client makes belong to it.
    package var partition: String?
    /// The compensating writes, in the order of their versions.
    package private(set) var compensations: [CompensatingWrite]
    private var compensationBytes = 0

    /// The bytes of compensating writes at which a client has to begin anew: it has written to too many objects of which it had not seen what put its
    /// copies right.
    package static let maxCompensationBytes = 2 << 20
    /// The number of views, and the bytes of their texts, at which new subscription sets are refused until an upload has confirmed the ones before.
    package static let maxViews = 256
    package static let maxViewBytes = 1 << 20
    /// The number of views, and the bytes of their texts, at which a client that stays at one version is made to say how far it is: then the views
    /// before go.
    private static let maxUnconfirmed = 16
    private static let maxUnconfirmedBytes = 256 << 10

    package init(
        views: ViewHistory<ViewDefinition> = ViewHistory(), roles: String = "", schemaVersion: UInt64? = nil,
        compensations: [CompensatingWrite] = []
    ) {
        self.views = views
        self.roles = roles
        self.schemaVersion = schemaVersion
        self.compensations = compensations
        compensationBytes = compensations.reduce(0) { $0 + $1.bytes }
    }

    /// Adds a compensating write. Of the last ones before it those that only sent anew what it sends anew are of no more use.
    package mutating func add(_ compensation: CompensatingWrite) {
        let objects = Set(compensation.objects)
        for index in compensations.indices.suffix(Self.lookback).reversed() {
            let earlier = compensations[index]
            guard earlier.refused.isEmpty, earlier.undoes, earlier.objects.allSatisfy(objects.contains) else {
                continue
            }
            compensations.remove(at: index)
            compensationBytes -= earlier.bytes
        }
        compensations.append(compensation)
        compensationBytes += compensation.bytes
    }

    private static let lookback = 100

    /// The client's uploads are based on this version, or on later ones: what it has had before is of no more use.
    package mutating func settle(_ version: ServerVersion) {
        views.trim(before: version)
        guard let first = compensations.first, first.version <= version else { return }
        compensations.removeAll { $0.version <= version }
        compensationBytes = compensations.reduce(0) { $0 + $1.bytes }
    }

    /// Whether the client has had so many views since what its uploads confirm that no more are remembered: each write of it is judged by
    /// all of them. What new roles show of the set in force has twice the room, since the client cannot do without.
    package func hasManyViews(toBegin version: UInt64) -> Bool {
        let room = version == views.latest?.version ? 2 : 1
        return views.segments.count >= room * Self.maxViews || texts.bytes >= room * Self.maxViewBytes
    }

    /// Whether the client has had many views at one version, since nothing is written that would move its cursor.
    package func mustBeConfirmed(at version: ServerVersion) -> Bool {
        guard views.segments.last?.start == version else { return false }
        return views.segments.count >= Self.maxUnconfirmed || texts.bytes >= Self.maxUnconfirmedBytes
    }

    /// Returns about how many bytes the row grows by if the client gets a view.
    package func growth(by definition: ViewDefinition) -> Int {
        var texts = texts
        let before = texts.bytes
        _ = (texts.index(of: definition.queries), texts.index(of: definition.roles))
        return texts.bytes - before + 32
    }

    /// The bytes of the texts that the views are made of, each counted once.
    package var textBytes: Int { texts.bytes }

    /// The texts that the views are made of, each once.
    private var texts: TextTable {
        var texts = TextTable()
        _ = texts.index(of: roles)
        for segment in views.segments {
            _ = (texts.index(of: segment.view.queries), texts.index(of: segment.view.roles))
        }
        return texts
    }

    package var isFull: Bool { compensationBytes >= Self.maxCompensationBytes }

    /// The client says that it stands at a version with a set, whatever was sent to it: that is so.
    ///
    /// - Returns: whether this is the set that is on record.
    package mutating func identify(_ definition: ViewDefinition, at version: ServerVersion) -> Bool {
        if let known = index(of: definition, at: version) {
            views.keep(known + 1)
            return true
        }
        views = ViewHistory([.init(start: version, view: definition)])
        return false
    }

    /// Whether the client has not got something that it was sent, or was begun to be sent, if it stands at a version with a set: so it is if a page was
    /// lost, or if what says so is older than the page.
    package func isTakenBack(by definition: ViewDefinition, at version: ServerVersion) -> Bool {
        if let begun, begun.version <= definition.version { return true }
        return !views.segments.isEmpty && index(of: definition, at: version) != views.segments.count - 1
    }

    private func index(of definition: ViewDefinition, at version: ServerVersion) -> Int? {
        views.segments.lastIndex {
            $0.view.version == definition.version && $0.view.queries == definition.queries && $0.start <= version
        }
    }

    // MARK: As bytes

    package func encoded() -> [UInt8] {
        var writer = VarintWriter()
        var texts = texts
        // A release before knows no texts that are said once: it is spared them where they are short.
        let isOnce = texts.saidAgain > Self.maxSaidAgain
        // An owner of a release before that would miss the objects that come anew: it had these with the compensating writes.
        writer.write(UInt64(isOnce ? 6 : compensations.isEmpty ? 4 : 5))
        if isOnce {
            writer.write(UInt64(texts.texts.count))
            for text in texts.texts { writer.write(lengthAnd: Array(text.utf8)) }
        }
        func write(_ text: String, to writer: inout VarintWriter) {
            if isOnce {
                writer.write(UInt64(texts.index(of: text)))
            } else {
                writer.write(lengthAnd: Array(text.utf8))
            }
        }
        writer.write(partition != nil)
        if let partition { writer.write(lengthAnd: Array(partition.utf8)) }
        writer.write(schemaVersion != nil)
        if let schemaVersion { writer.write(schemaVersion) }
        write(roles, to: &writer)
        writer.write(UInt64(views.segments.count))
        for segment in views.segments {
            writer.write(segment.start.rawValue)
            writer.write(segment.since != nil)
            if let since = segment.since { writer.write(since.rawValue) }
            writer.write(segment.view.version)
            write(segment.view.queries, to: &writer)
            write(segment.view.roles, to: &writer)
        }
        writer.write(begun != nil)
        if let begun {
            writer.write(begun.version)
            writer.write(lengthAnd: Array(begun.gateway.utf8))
            writer.write(begun.session)
        }
        writer.write(UInt64(compensations.count))
        for compensation in compensations { writer.write(compensation) }
        return writer.bytes
    }

    /// The bytes of repeated texts that may be written again.
    private static let maxSaidAgain = 4 << 10

    /// - Throws: if the bytes are not what `encoded` wrote.
    package init(decoding bytes: [UInt8]) throws(ChangesetError) {
        var reader = VarintReader(bytes)
        let format = try reader.readUInt64()
        var texts: [String] = []
        if format == 6 {
            for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "texts")) {
                texts.append(try reader.readText())
            }
        }
        func readText(_ reader: inout VarintReader) throws(ChangesetError) -> String {
            guard format == 6 else { return try reader.readText() }
            let index = try reader.readUInt64()
            guard index < texts.count else { throw reader.malformed("a text that is not there") }
            return texts[Int(index)]
        }
        switch format {
        case 1: break
        case 2: schemaVersion = try reader.readUInt64()
        case 3:
            partition = try reader.readText()
            if try reader.readBool() { schemaVersion = try reader.readUInt64() }
        case 4, 5, 6:
            if try reader.readBool() { partition = try reader.readText() }
            if try reader.readBool() { schemaVersion = try reader.readUInt64() }
        default: throw reader.malformed("a client file's views of another version")
        }
        roles = try readText(&reader)
        var segments: [ViewHistory<ViewDefinition>.Segment] = []
        for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "views")) {
            let start = ServerVersion(try reader.readUInt64())
            var since: ServerVersion?
            if format >= 4, try reader.readBool() { since = ServerVersion(try reader.readUInt64()) }
            let version = try reader.readUInt64()
            segments.append(
                .init(
                    start: start,
                    view: ViewDefinition(
                        version: version, queries: try readText(&reader), roles: try readText(&reader)),
                    since: since))
        }
        views = ViewHistory(segments)
        if try reader.readBool() {
            begun = BegunBootstrap(
                version: try reader.readUInt64(), gateway: try reader.readText(), session: try reader.readUInt64())
        }
        var read: [CompensatingWrite] = []
        for _ in 0..<(try reader.readLength(limit: reader.remaining, what: "compensating writes")) {
            read.append(try reader.readCompensation())
            // What the client was to get.
            if format < 5 { _ = try reader.readBody() }
        }
        compensations = read
        compensationBytes = read.reduce(0) { $0 + $1.bytes }
        guard reader.isAtEnd else { throw reader.malformed("bytes after a client file's views") }
    }
}

/// Texts, each once. None is hashed: most are those that came last.
private struct TextTable {
    private(set) var texts: [String] = []
    /// The bytes of all texts, each counted once, and of the texts that were said again.
    private(set) var bytes = 0
    private(set) var saidAgain = 0

    mutating func index(of text: String) -> Int {
        if let known = texts.lastIndex(of: text) {
            saidAgain += text.utf8.count
            return known
        }
        texts.append(text)
        bytes += text.utf8.count
        return texts.count - 1
    }
}

/// The data of a subscription set on its way to a client in several messages. If the connection is lost meanwhile, a client keeps those that
/// have come and adds them to what it is sent of the same set later: so that has to be preceded by an end of its session, after which it has
/// nothing.
package struct BegunBootstrap: Equatable, Sendable {
    package var version: UInt64
    /// The session that it was sent to, or that was told to end since.
    package var gateway: String
    package var session: UInt64

    package init(version: UInt64, gateway: String, session: UInt64) {
        self.version = version
        self.gateway = gateway
        self.session = session
    }
}

extension CompensatingWrite {
    /// What it takes in a client file's row, about.
    fileprivate var bytes: Int {
        32 + refused.reduce(0) { $0 + $1.className.count + $1.key.bytes + 4 }
            + objects.reduce(0) { $0 + $1.className.count + $1.key.bytes + 2 }
    }
}

extension ObjectKey {
    fileprivate var bytes: Int {
        if case .string(let text) = self { return text.count + 2 }
        return 17
    }
}

extension VarintWriter {
    fileprivate mutating func write(_ compensation: CompensatingWrite) {
        write(compensation.version.rawValue)
        write(compensation.clientVersion.rawValue)
        // Releases before wrote the client version a second time, and tell the client of every refusal.
        write(compensation.isTold ? compensation.clientVersion.rawValue : 0)
        write(compensation.timestamp.rawValue)
        // A release before knows no refusal for a place's sake: said twice, it is one that it can read, and no other is.
        let refused = compensation.refused.flatMap { Array(repeating: $0, count: $0.reason == .place ? 2 : 1) }
        write(UInt64(refused.count))
        for refused in refused {
            write(UInt64((refused.reason == .place ? .permission : refused.reason).rawValue))
            write(lengthAnd: refused.className)
            write(detached: refused.key)
        }
        write(UInt64(compensation.objects.count))
        for object in compensation.objects {
            write(lengthAnd: object.className)
            write(detached: object.key)
        }
    }
}

extension VarintReader {
    fileprivate mutating func readBody() throws(ChangesetError) -> [UInt8] {
        try readBytes(try readLength(limit: remaining, what: "bytes"))
    }

    fileprivate mutating func readText() throws(ChangesetError) -> String {
        String(decoding: try readBody(), as: UTF8.self)
    }

    fileprivate mutating func readCompensation() throws(ChangesetError) -> CompensatingWrite {
        var result = CompensatingWrite(
            version: ServerVersion(try readUInt64()), clientVersion: ClientVersion(try readUInt64()),
            isTold: try readUInt64() != 0, timestamp: SyncTimestamp(try readUInt64()), refused: [],
            objects: [])
        for _ in 0..<(try readLength(limit: remaining, what: "refused writes")) {
            guard let reason = RefusedWrite.Reason(rawValue: try readUInt8()) else {
                throw malformed("a refused write's reason")
            }
            let write = RefusedWrite(className: ByteString(try readBody()), key: try readDetachedKey(), reason: reason)
            if write.reason == .permission, result.refused.last == write {
                result.refused[result.refused.count - 1].reason = .place
            } else {
                result.refused.append(write)
            }
        }
        for _ in 0..<(try readLength(limit: remaining, what: "objects")) {
            result.objects.append(ObjectAddress(ByteString(try readBody()), try readDetachedKey()))
        }
        return result
    }
}
