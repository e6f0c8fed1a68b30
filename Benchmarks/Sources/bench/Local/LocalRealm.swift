import DeviceSync
import Foundation

final class LocalTask: Object {
    @Persisted(primaryKey: true) var _id: Int
    @Persisted(indexed: true) var owner: String
    @Persisted var title: String
    @Persisted var priority: Int
    @Persisted var done: Bool

    convenience init(_ item: LocalItem) {
        self.init()
        _id = item.id
        owner = item.owner
        title = item.title
        priority = item.priority
        done = item.done
    }
}

/// The SDK, as an app uses it.
enum LocalRealm: LocalStore {
    private static func open(_ folder: URL, _ key: Data?) throws -> Realm {
        try Realm(
            configuration: Realm.Configuration(
                fileURL: folder.appendingPathComponent(key == nil ? "bench.realm" : "encrypted.realm"),
                encryptionKey: key, objectTypes: [LocalTask.self]))
    }

    static func fill(_ folder: URL, _ bench: LocalBench) throws { try fill(folder, bench, nil) }

    fileprivate static func fill(_ folder: URL, _ bench: LocalBench, _ key: Data?) throws {
        let realm = try open(folder, key)
        for start in stride(from: 0, to: bench.objects, by: 20_000) {
            try realm.write {
                for id in start..<min(start + 20_000, bench.objects) { realm.add(LocalTask(LocalItem(id))) }
            }
        }
    }

    static func measure(_ folder: URL, _ bench: LocalBench) throws -> LocalFigures { try measure(folder, bench, nil) }

    fileprivate static func measure(
        _ folder: URL, _ bench: LocalBench, _ encryptionKey: Data?
    ) throws -> LocalFigures {
        var figures = LocalFigures()
        let before = LocalFigures.memory("VmRSS")
        let clock = ContinuousClock()
        let start = clock.now
        let realm = try open(folder, encryptionKey)
        precondition(realm.object(ofType: LocalTask.self, forPrimaryKey: 1) != nil)
        figures.open_ms = (clock.now - start).milliseconds
        figures.open_mb = LocalFigures.memory("VmRSS") - before
        let step = max(1, bench.objects / 10_000)
        func key(_ number: Int) -> Int { number % 10_000 * step % bench.objects }
        for number in 0..<10_000 { _ = realm.object(ofType: LocalTask.self, forPrimaryKey: key(number)) }
        var found = 0
        let reads = bench.best {
            for number in 0..<bench.reads
            where realm.object(ofType: LocalTask.self, forPrimaryKey: key(number)) != nil {
                found += 1
            }
        }
        precondition(found == bench.reads * bench.runs)
        figures.reads_per_second = Double(bench.reads) / (reads.milliseconds / 1000)
        var sum = 0
        let properties = bench.best {
            for number in 0..<bench.reads {
                sum += realm.object(ofType: LocalTask.self, forPrimaryKey: key(number))?.priority ?? 0
            }
        }
        precondition(sum > 0)
        figures.properties_per_second = Double(bench.reads) / (properties.milliseconds / 1000)
        figures.query_ms =
            bench.best {
                figures.query_results = realm.objects(LocalTask.self).where { $0.owner == "user-17" }.count
            }.milliseconds
        figures.write_s =
            try clock.measure {
                try realm.write {
                    for id in 0..<bench.written { realm.add(LocalTask(LocalItem(bench.objects + id))) }
                }
            }.milliseconds / 1000
        figures.peak_mb = LocalFigures.memory("VmHWM")
        return figures
    }
}

/// The same with a key. Its pages are encrypted when they are written, and decrypted when SQLite reads them from the file.
enum EncryptedLocalRealm: LocalStore {
    private static let key = Data(0..<64)

    static func fill(_ folder: URL, _ bench: LocalBench) throws { try LocalRealm.fill(folder, bench, key) }

    static func measure(_ folder: URL, _ bench: LocalBench) throws -> LocalFigures {
        try LocalRealm.measure(folder, bench, key)
    }
}
