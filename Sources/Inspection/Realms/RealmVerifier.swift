import Changesets
import RealmState
package import Storage
package import SyncModel

/// Checks one stored realm: its history against its state, and its books against both. Reads within one snapshot, in bounded
/// memory, and changes nothing.
package struct RealmVerifier {
    let reader: any SliceReader
    let record: RealmRecord
    private var findings = FindingList()
    private var digest: String?
    private var objects = 0
    private var highest: [FileIdent: ClientVersion] = [:]
    private var bases: [BaseRecord] = []

    /// How far it has come, in bytes of history, of how many.
    package typealias Progress = (_ done: UInt64, _ of: UInt64) -> Void

    /// - Returns: nil if the realm is not there any more.
    package static func verify(
        _ name: RealmName, in reader: any SliceReader, progress: Progress = { _, _ in }
    ) async throws -> RealmVerdict? {
        try await reader.withSnapshot { snapshot in
            guard let record = try await snapshot.realm(name) else { return nil }
            var verifier = RealmVerifier(reader: snapshot, record: record)
            return try await verifier.run(progress)
        }
    }

    private init(reader: any SliceReader, record: RealmRecord) {
        self.reader = reader
        self.record = record
    }

    private var key: HistoryKey { HistoryKey(realm: record.id, generation: record.generation) }

    /// What a client begins with.
    private var newest: BaseRecord? { bases.last { $0.isComplete && $0.generation == record.generation } }

    private mutating func run(_ progress: Progress) async throws -> RealmVerdict {
        let span = try await reader.historySpan(of: key)
        checkSpan(span)
        bases = try await reader.bases(of: record.id)
        let replay = try await replay(progress)
        let clientFiles = try await checkClientFiles()
        return RealmVerdict(
            app: record.name.app, partition: record.name.partition, slice: reader.slice.value,
            generation: record.generation, version: record.latest.version, historyBase: record.historyBase,
            base: newest?.version, entries: span?.count ?? 0, historyBytes: record.historyBytes, objects: objects,
            clientFiles: clientFiles,
            replay: replay, digest: digest, findings: findings.listed, findingCount: findings.count)
    }

    // MARK: History

    private mutating func checkSpan(_ span: VersionSpan?) {
        let latest = record.latest.version
        guard record.historyBase <= latest else {
            findings.add(
                .continuity, "history begins after version \(record.historyBase), beyond the latest, \(latest)")
            return
        }
        let expected = latest.rawValue - record.historyBase.rawValue
        guard (span?.count ?? 0) == expected, expected == 0 || span?.first == record.historyBase + 1,
            expected == 0 || span?.last == latest
        else {
            let stored = span.map { "\($0.count) of \($0.first) to \($0.last)" } ?? "none"
            findings.add(
                .continuity,
                "expected \(expected) versions after \(record.historyBase) up to \(latest); stored are \(stored)")
            return
        }
    }

    private func scratch(_ historyBytes: UInt64) async throws -> ScratchRealm {
        try await ScratchRealm(historyBytes: historyBytes, compatibility: record.compatibility)
    }

    /// Reads the whole history once: checks its books, and applies it to nothing, and what follows the newest base to that
    /// base: what a client gets that begins now.
    private mutating func replay(_ progress: Progress) async throws -> RealmVerdict.Replay {
        let isWhole = record.historyBase == 0
        let whole = isWhole ? try await scratch(record.historyBytes) : nil
        var begun: ScratchRealm?
        var isBroken = false
        if let newest {
            let bytes = newest.bytes &+ (record.historyBytes &- min(record.historyBytes, newest.historyBytes))
            let scratch = try await scratch(bytes)
            begun = scratch
            isBroken = try await !apply(newest, to: scratch)
        } else if !isWhole {
            findings.add(
                .continuity, "history begins after version \(record.historyBase), and there is no base to begin with")
        }
        var checker = HistoryChecker(record: record)
        var after = record.historyBase
        var done: UInt64 = 0
        while after < record.latest.version {
            let page = try await reader.history(
                of: key, after: after, through: record.latest.version, maxBytes: 1 << 20)
            guard let end = page.last else { break }
            for stored in page {
                checker.check(stored, &findings)
                let entry = stored.entry
                done &+= UInt64(entry.changeset.count)
                guard !entry.changeset.isEmpty else { continue }
                do {
                    let changeset = try Changeset(parsing: entry.changeset)
                    if !isBroken { try await whole?.apply(changeset) }
                    if !isBroken, entry.serverVersion > newest?.version ?? 0 { try await begun?.apply(changeset) }
                } catch let error as StoreError {
                    throw error
                } catch {
                    isBroken = true
                    findings.add(.encoding, "version \(stored.version) cannot be applied: \(error)")
                }
            }
            progress(done, record.historyBytes)
            after = end.version
        }
        checker.finish(&findings)
        highest = checker.highestClientVersion
        guard !isBroken else {
            _ = try await compare(with: nil)
            return .broken
        }
        var isEqual = true
        if let begun { isEqual = try await compare(with: begun) }
        if let whole { isEqual = try await compare(with: whole) && isEqual }
        guard begun != nil || whole != nil else {
            _ = try await compare(with: nil)
            return .compacted
        }
        return isEqual ? .equal : .different
    }

    /// - Returns: whether all of it could be applied.
    private mutating func apply(_ base: BaseRecord, to scratch: ScratchRealm) async throws -> Bool {
        if base.version < record.historyBase || base.version > record.latest.version {
            findings.add(
                .continuity,
                "the base is of version \(base.version); the history goes from \(record.historyBase) to"
                    + " \(record.latest.version)")
        }
        var after: ServerVersion = 0
        var bytes: UInt64 = 0
        while true {
            let page = try await reader.history(
                of: base.historyKey, after: after, through: ServerVersion(WireIntegerBounds.maximum), maxBytes: 1 << 20)
            guard !page.isEmpty else { break }
            for stored in page {
                let entry = stored.entry
                bytes &+= UInt64(entry.changeset.count)
                if entry.serverVersion != after &+ 1 || entry.originFile != .server || stored.cumulativeBytes != bytes {
                    findings.add(.continuity, "the base's changeset \(after) is followed by \(stored.version)")
                }
                after = stored.version
                do {
                    try await scratch.apply(try Changeset(parsing: entry.changeset))
                } catch let error as StoreError {
                    throw error
                } catch {
                    findings.add(.encoding, "the base's changeset \(stored.version) cannot be applied: \(error)")
                    return false
                }
            }
        }
        if after != base.lastEntry || bytes != base.bytes {
            findings.add(
                .continuity,
                "the base has \(after) changesets of \(bytes) bytes; expected \(base.entries) of \(base.bytes)")
        }
        return true
    }

    // MARK: State

    /// Reads the whole state once, and compares it with what the history made. Nil: only reads.
    private mutating func compare(with scratch: ScratchRealm?) async throws -> Bool {
        let before = findings.count
        objects = 0
        let schema: Schema
        do {
            schema = record.schema.isEmpty ? Schema() : try Schema(decoding: record.schema)
        } catch {
            findings.add(.encoding, "the schema cannot be read: \(error)")
            return false
        }
        let empty = StateDigest(schema: schema)
        var total: StateDigest? = empty
        var isSameSchema = true
        if let scratch {
            try await scratch.flush()
            isSameSchema = StateDigest(schema: scratch.state.schema) == empty
            if !isSameSchema { findings.add(.replay, "the history makes another schema than the state has") }
        }
        var last: ObjectRow?
        while true {
            let page = try await reader.objects(in: record.id, after: last, maxBytes: 1 << 20)
            guard let end = page.last else { break }
            objects += page.count
            var stored: [(ObjectAddress, StoredObject)] = []
            for (row, body) in page {
                guard let table = schema.table(TableID(rawValue: row.table)) else {
                    findings.add(.encoding, "an object of class number \(row.table), which the schema does not have")
                    continue
                }
                let address = ObjectAddress(table.name, row.key)
                do {
                    stored.append((address, try StoredObject(decoding: body)))
                } catch {
                    findings.add(.encoding, "object \(address.text) cannot be read: \(error)")
                    total = nil
                }
            }
            for (address, object) in stored { total?.add(address, object, schema: schema) }
            if let scratch, isSameSchema { try await compare(stored, with: scratch, schema: schema, empty: empty) }
            last = end.row
        }
        digest = total?.description
        if let scratch, isSameSchema { try await findExtra(in: scratch, schema: schema) }
        return findings.count == before
    }

    private mutating func compare(
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

    private mutating func findExtra(in scratch: ScratchRealm, schema: Schema) async throws {
        let reader = reader
        let id = record.id
        var missing: [ObjectAddress] = []
        try await scratch.forEachPage { addresses in
            var rows: [ObjectRow: ObjectAddress] = [:]
            for address in addresses {
                guard let table = schema.table(address.className)?.id else { continue }
                rows[ObjectRow(table: table.rawValue, key: address.key)] = address
            }
            let found = try await reader.objects(in: id, at: Array(rows.keys))
            missing += rows.filter { found[$0.key] == nil }.map(\.value).prefix(1000)
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

    /// - Returns: how many there are.
    private mutating func checkClientFiles() async throws -> Int {
        let spans = try await reader.reciprocalSpans(in: record.id)
        let readable = bases.filter { $0.isComplete && $0.generation == record.generation }.map(\.version)
        let checker = ClientFileChecker(
            record: record, highestClientVersion: highest, reciprocals: spans, bases: Set(readable))
        var findings = self.findings
        var known: Set<FileIdent> = []
        var count = 0
        try await reader.forEachClientFile(in: record.id) { file in
            count += 1
            checker.check(file, &findings)
            if spans[file.ident] != nil || highest[file.ident] != nil { known.insert(file.ident) }
        }
        for ident in spans.keys.filter({ !known.contains($0) }).sorted() {
            findings.add(.reciprocals, "reciprocals of client file \(ident), which does not exist")
        }
        for ident in highest.keys.filter({ !known.contains($0) }).sorted() {
            findings.add(.clientFiles, "the history names client file \(ident), which does not exist")
        }
        self.findings = findings
        return count
    }
}

extension ObjectAddress {
    /// The class and the kind of key; the key itself may be data of a user, so only numbers and identifiers are shown.
    var text: String {
        switch key {
        case .null: "\(className.string)/null"
        case .int(let value): "\(className.string)/\(value)"
        case .string(let value): "\(className.string)/(string key of \(value.count) bytes)"
        case .globalKey, .objectID, .uuid: "\(className.string)/\(key)"
        }
    }
}
