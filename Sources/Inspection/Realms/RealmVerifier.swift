import Changesets
import RealmState
package import Storage
package import SyncModel

/// Checks one stored realm: its history against its state, and its versions, byte counts and client files against both.
/// Reads within one snapshot, in bounded memory, and changes nothing.
package final class RealmVerifier {
    let reader: any SliceReader
    let record: RealmRecord
    private var findings = FindingList()
    private var misfits = MisfitChecker()
    private var digest: String?
    private var objects = 0
    private var objectsByTable: [UInt32: Int] = [:]
    private var highest: [FileIdent: ClientVersion] = [:]
    private var bases: [BaseRecord] = []

    /// Called with how many bytes of history have been replayed, and how many there are.
    package typealias Progress = (_ done: UInt64, _ of: UInt64) -> Void

    /// - Returns: nil if there is no such realm.
    package static func verify(
        _ name: RealmName, in reader: any SliceReader, progress: Progress = { _, _ in }
    ) async throws -> RealmVerdict? {
        try await reader.withSnapshot { snapshot in
            guard let record = try await snapshot.realm(name) else { return nil }
            return try await RealmVerifier(reader: snapshot, record: record).run(progress)
        }
    }

    private init(reader: any SliceReader, record: RealmRecord) {
        self.reader = reader
        self.record = record
    }

    private var key: HistoryKey { HistoryKey(realm: record.id, generation: record.generation) }

    /// The base that a new client begins with.
    private var newest: BaseRecord? { bases.last { $0.isComplete && $0.generation == record.generation } }

    private func run(_ progress: Progress) async throws -> RealmVerdict {
        let span = try await reader.historySpan(of: key)
        checkSpan(span)
        bases = try await reader.bases(of: record.id)
        let replay = try await replay(progress)
        try await IndexChecker(record)?.check(in: reader, objects: objectsByTable, &findings)
        let clientFiles = try await checkClientFiles()
        // A client of a flexible realm is sent objects as they are by then.
        let start = record.name.isFlexible ? record.latest.version : newest?.version ?? record.historyBase
        misfits.finish(from: start, &findings)
        return RealmVerdict(
            app: record.name.app, partition: record.name.partition, slice: reader.slice.value,
            generation: record.generation, version: record.latest.version, historyBase: record.historyBase,
            base: newest?.version, entries: span?.count ?? 0, historyBytes: record.historyBytes, objects: objects,
            clientFiles: clientFiles, replay: replay, digest: digest, findings: findings.listed,
            findingCount: findings.count)
    }

    // MARK: History

    private func checkSpan(_ span: VersionSpan?) {
        let latest = record.latest.version
        guard record.historyBase <= latest else {
            findings.add(
                .continuity, "history begins after version \(record.historyBase), beyond the latest, \(latest)")
            return
        }
        let expected = latest.rawValue - record.historyBase.rawValue
        let isWhole =
            expected == 0
            ? span == nil
            : span == VersionSpan(first: record.historyBase + 1, last: latest, count: expected)
        if !isWhole {
            let stored = span.map { "\($0.count) of \($0.first) to \($0.last)" } ?? "none"
            findings.add(
                .continuity,
                "expected \(expected.counted("version")) after \(record.historyBase) up to \(latest); stored are \(stored)"
            )
        }
    }

    /// Reads the whole history once and checks it. Applies it to an empty realm, and applies what follows the newest base to
    /// that base, as a new client does.
    private func replay(_ progress: Progress) async throws -> RealmVerdict.Replay {
        let isWhole = record.historyBase == 0
        let whole =
            isWhole
            ? try await ScratchRealm(historyBytes: record.historyBytes, compatibility: record.compatibility) : nil
        var begun: ScratchRealm?
        var isBroken = false
        if let newest {
            let bytes = newest.bytes &+ (record.historyBytes &- min(record.historyBytes, newest.historyBytes))
            let scratch = try await ScratchRealm(historyBytes: bytes, compatibility: record.compatibility)
            begun = scratch
            isBroken = try await !apply(newest, to: scratch)
        } else if !isWhole {
            findings.add(
                .continuity, "history begins after version \(record.historyBase), and there is no base to begin with")
        }
        let schema = try? record.storedSchema()
        var checker = HistoryChecker(record: record)
        var images = ImageChecker(record)
        let start = newest?.version ?? 0
        var done: UInt64 = 0
        try await reader.forEachHistoryPage(of: key, after: record.historyBase, through: record.latest.version) {
            page in
            try Task.checkCancellation()
            for stored in page {
                checker.check(stored, &findings)
                let entry = stored.entry
                done &+= UInt64(entry.changeset.count)
                guard !entry.changeset.isEmpty else { continue }
                do {
                    let changeset = try Changeset(parsing: entry.changeset)
                    if let schema { misfits.check(changeset, at: stored.version, schema) }
                    guard !isBroken else { continue }
                    let following = entry.serverVersion > start ? begun : nil
                    if changeset.mayBeInapplicable, let replayed = following ?? whole {
                        try await replayed.load(changeset.touchedAddresses)
                        misfits.check(changeset, at: stored.version, on: replayed.state)
                    }
                    var claims: [ImageChecker.Claim] = []
                    if images != nil, let replayed = following ?? whole {
                        try await replayed.load(changeset.touchedAddresses)
                        claims = images?.check(stored, changeset, replayed.state, &findings) ?? []
                    }
                    try await whole?.apply(changeset)
                    try await following?.apply(changeset)
                    if let images, !claims.isEmpty, let replayed = following ?? whole {
                        try await replayed.load(Set(claims.map(\.address)))
                        images.check(claims, replayed.state, &findings)
                    }
                } catch let error as StoreError {
                    throw error
                } catch {
                    isBroken = true
                    findings.add(.encoding, "version \(stored.version) cannot be applied: \(error)")
                }
            }
            progress(done, record.historyBytes)
        }
        checker.finish(&findings)
        highest = checker.highestClientVersion
        let replayed = isBroken ? [] : [begun, whole].compactMap(\.self)
        guard !replayed.isEmpty else {
            _ = try await compare(with: nil)
            return isBroken ? .broken : .compacted
        }
        var isEqual = true
        for scratch in replayed { isEqual = try await compare(with: scratch) && isEqual }
        return isEqual ? .equal : .different
    }

    /// Applies a base's changesets to an empty realm, and checks their numbers and byte counts.
    ///
    /// - Returns: whether all changesets could be applied.
    private func apply(_ base: BaseRecord, to scratch: ScratchRealm) async throws -> Bool {
        if base.version < record.historyBase || base.version > record.latest.version {
            findings.add(
                .continuity,
                "the base is of version \(base.version); the history goes from \(record.historyBase) to"
                    + " \(record.latest.version)")
        }
        var after: ServerVersion = 0
        var bytes: UInt64 = 0
        let end = ServerVersion(WireIntegerBounds.maximum)
        let schema = try? record.storedSchema()
        do {
            try await reader.forEachHistoryPage(of: base.historyKey, after: 0, through: end) { page in
                for stored in page {
                    let entry = stored.entry
                    bytes &+= UInt64(entry.changeset.count)
                    let isNext = stored.version == after &+ 1 && entry.originFile == .server
                    if !isNext || stored.cumulativeBytes != bytes {
                        findings.add(.continuity, "the base's changeset \(after) is followed by \(stored.version)")
                    }
                    after = stored.version
                    let changeset = try Changeset(parsing: entry.changeset)
                    if let schema { misfits.check(changeset, ofBase: base.version, schema) }
                    try await scratch.apply(changeset)
                }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            findings.add(.encoding, "the base's changeset \(after) cannot be applied: \(error)")
            return false
        }
        if after != base.lastEntry || bytes != base.bytes {
            findings.add(
                .continuity,
                "the base has \(after) changesets of \(bytes) bytes; expected \(base.entries) of \(base.bytes)")
        }
        return true
    }

    // MARK: State

    /// Reads the whole state once, and compares it with a replayed realm.
    ///
    /// - Parameter scratch: the replayed realm; nil to check only that the state can be read.
    /// - Returns: whether there was no fault.
    private func compare(with scratch: ScratchRealm?) async throws -> Bool {
        let before = findings.count
        objects = 0
        objectsByTable = [:]
        let schema: Schema
        do {
            schema = try record.storedSchema()
        } catch {
            findings.add(.encoding, "the schema cannot be read: \(error)")
            return false
        }
        let empty = StateDigest(schema: schema)
        misfits.beginState(schema)
        var total: StateDigest? = empty
        var isSameSchema = true
        if let scratch {
            try await scratch.flush()
            isSameSchema = StateDigest(schema: scratch.state.schema) == empty
            if !isSameSchema { findings.add(.replay, "the history makes another schema than the state has") }
        }
        try await reader.forEachObjectPage(in: record.id) { page in
            objects += page.count
            var stored: [(ObjectAddress, StoredObject)] = []
            for (row, body) in page {
                objectsByTable[row.table, default: 0] += 1
                guard let address = schema.address(of: row) else {
                    findings.add(.encoding, "an object of class number \(row.table), which the schema does not have")
                    continue
                }
                do {
                    stored.append((address, try StoredObject(decoding: body)))
                } catch {
                    findings.add(.encoding, "object \(address.text) cannot be read: \(error)")
                    total = nil
                }
            }
            for (address, object) in stored {
                total?.add(address, object, schema: schema)
                misfits.check(object, address, schema)
            }
            if let scratch, isSameSchema { try await compare(stored, with: scratch, schema: schema, empty: empty) }
        }
        digest = total?.description
        if let scratch, isSameSchema { try await findExtra(in: scratch, schema: schema) }
        return findings.count == before
    }

    private func compare(
        _ stored: [(ObjectAddress, StoredObject)], with scratch: ScratchRealm, schema: Schema, empty: StateDigest
    ) async throws {
        let replayed = try await scratch.objects(stored.map(\.0))
        for (address, object) in stored {
            guard let other = replayed[address] else {
                findings.add(.replay, "object \(address.text) is in the state, and the history does not make it")
                continue
            }
            var left = empty
            left.add(address, object, schema: schema)
            var right = empty
            right.add(address, other, schema: scratch.state.schema)
            if left != right {
                let columns = Self.differences(object, other, of: address, schema, scratch.state.schema)
                findings.add(
                    .replay, "object \(address.text) differs from what the history makes of it in \(columns)")
            }
        }
    }

    private func findExtra(in scratch: ScratchRealm, schema: Schema) async throws {
        var missing: [ObjectAddress] = []
        try await scratch.forEachPage { addresses in
            let found = try await reader.objects(in: record.id, at: addresses, schema)
            missing += addresses.filter { schema.table($0.className) != nil && found[$0] == nil }.prefix(1000)
        }
        for address in missing.sorted(by: <) {
            findings.add(.replay, "object \(address.text) is made by the history, and the state does not have it")
        }
    }

    private static func differences(
        _ left: StoredObject, _ right: StoredObject, of address: ObjectAddress, _ leftSchema: Schema,
        _ rightSchema: Schema
    ) -> String {
        guard let mine = leftSchema.table(address.className), let theirs = rightSchema.table(address.className) else {
            return "its class"
        }
        let names = mine.columns.compactMap { column -> String? in
            guard let other = theirs.column(column.name) else { return column.name.string }
            return left[column] == right[other] ? nil : column.name.string
        }
        return names.isEmpty ? "embedded objects" : names.sorted().joined(separator: ", ")
    }

    // MARK: Client files

    /// - Returns: how many client files there are.
    private func checkClientFiles() async throws -> Int {
        let spans = try await reader.reciprocalSpans(in: record.id)
        let readable = bases.filter { $0.isComplete && $0.generation == record.generation }.map(\.version)
        let checker = ClientFileChecker(
            record: record, highestClientVersion: highest, reciprocals: spans, bases: Set(readable))
        var known: Set<FileIdent> = []
        var count = 0
        try await reader.forEachClientFile(in: record.id) { file in
            count += 1
            checker.check(file, &findings)
            misfits.check(file)
            if spans[file.ident] != nil || highest[file.ident] != nil { known.insert(file.ident) }
        }
        for ident in spans.keys.filter({ !known.contains($0) }).sorted() {
            findings.add(.reciprocals, "reciprocals of client file \(ident), which does not exist")
        }
        for ident in highest.keys.filter({ !known.contains($0) }).sorted() {
            findings.add(.clientFiles, "the history names client file \(ident), which does not exist")
        }
        return count
    }
}

extension ObjectAddress {
    /// The class and the key, without keys that may be a user's data: of a string only its length is shown.
    var text: String {
        switch key {
        case .null: "\(className.string)/null"
        case .int(let value): "\(className.string)/\(value)"
        case .string(let value): "\(className.string)/(string key of \(value.count.counted("byte")))"
        case .globalKey, .objectID, .uuid: "\(className.string)/\(key)"
        }
    }
}
