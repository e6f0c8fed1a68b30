import ArgumentParser
import Changesets
import Foundation
import RealmState
import Storage
import StorageSQLite
import SyncModel

/// How long a slice's store takes for the objects that an index leads to, of a realm of very many. No owner and no client.
struct IndexBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index", abstract: "Objects that a slice's store finds by an index, in milliseconds.")

    @Option(help: "Objects of the realm.") var objects = 1_000_000
    @Option(help: "Objects that the index leads to.") var selected = 1_000
    @Option(help: "Runs of each; the best one counts.") var runs = 5
    @Flag(help: "Print one JSON line a measurement.") var json = false

    private static let realm = RealmID(1)
    private static let pageBytes = 256 << 10
    /// The columns of the entries: an owner, whose objects lie anywhere, and a number, in another order than the keys'.
    private enum Column: UInt32 { case owner, number }

    func validate() throws {
        guard selected > 0, objects >= selected, runs > 0 else {
            throw ValidationError("expected fewer selected than objects")
        }
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bench-index-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let store = try await SQLiteStores(folder: folder).store(for: SliceNumber(0))
        guard case .owned(let epoch) = try await store.claim(by: "bench", now: 1, leaseUntil: 1 << 60, gone: nil) else {
            throw BenchFailure("the store is another's")
        }
        try await fill(store, epoch)
        let owners = max(objects / selected, 1)
        try await report("by a value", store, .owner, [range(owners / 2, owners / 2)])
        try await report("by four values", store, .owner, (0..<4).map { range($0 * owners / 4, $0 * owners / 4) })
        try await report("by a range", store, .number, [range(objects / 2, objects / 2 + selected - 1)])
        var start = ContinuousClock.now
        var last: ObjectRow?
        var read = 0
        while case let page = try await store.objects(in: Self.realm, of: 0, after: last, maxBytes: Self.pageBytes),
            let end = page.last
        {
            read += page.count
            last = end.row
        }
        show("all of them, one after the other", start.duration(to: .now).milliseconds, read)
        start = ContinuousClock.now
        let query = query(.owner, [range(owners / 2, owners / 2)])
        let count = try await store.countEntries(query, limit: 10_000)
        show("how many, by a value", start.duration(to: .now).milliseconds, count)
    }

    private func fill(_ store: any SliceStore, _ epoch: Epoch) async throws {
        let owners = max(objects / selected, 1)
        var random = SplitMix(state: 7)
        for first in stride(from: 0, to: objects, by: 10_000) {
            var batch = SliceBatch()
            var bodies: [ObjectRow: [UInt8]] = [:]
            var entries: Set<IndexEntry> = []
            for number in first..<min(first + 10_000, objects) {
                let row = ObjectRow(table: 0, key: .objectID(.init(high: random.next(), low: UInt32(number))))
                bodies[row] = StoredObject([
                    ColumnID(rawValue: 0): .int(Int64(number % owners)), ColumnID(rawValue: 1): .int(Int64(number)),
                    ColumnID(rawValue: 2): .string(
                        ByteString("task number \(number), which has a title of some length")),
                ]).encoded()
                entries.insert(IndexEntry(row: row, column: Column.owner.rawValue, value: bytes(number % owners)))
                entries.insert(IndexEntry(row: row, column: Column.number.rawValue, value: bytes(number)))
            }
            batch.objects = [Self.realm: bodies]
            batch.indexEntries = [Self.realm: entries]
            try await store.commit(batch, epoch: epoch)
        }
    }

    private func bytes(_ number: Int) -> [UInt8] { [2] + withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) } }
    private func range(_ low: Int, _ high: Int) -> IndexRange { IndexRange(low: bytes(low), high: bytes(high)) }

    private func query(_ column: Column, _ ranges: [IndexRange]) -> IndexQuery {
        IndexQuery(realm: Self.realm, table: 0, column: column.rawValue, ranges: ranges)
    }

    private func report(_ name: String, _ store: any SliceStore, _ column: Column, _ ranges: [IndexRange]) async throws
    {
        var best = Duration.seconds(1_000_000)
        var found = 0
        for _ in 0..<runs {
            found = 0
            let start = ContinuousClock.now
            var query = query(column, ranges)
            while case let page = try await store.objects(query, maxBytes: Self.pageBytes), let end = page.last {
                found += page.count
                query.after = (end.value, end.row.key)
            }
            best = min(best, start.duration(to: .now))
        }
        show(name, best.milliseconds, found)
    }

    private func show(_ name: String, _ milliseconds: Double, _ found: Int) {
        if json {
            Measurement(name: "index/\(name)", value: milliseconds, unit: "ms", comparison: nil).printLine()
        } else {
            print(String(format: "%9.2f ms  %7d of %d objects  ", milliseconds, found, objects) + name)
        }
    }

    /// Numbers that come out the same in each run.
    private struct SplitMix {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }
}
