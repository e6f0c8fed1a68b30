import Changesets
import DeviceSync
import Foundation
import RealmState
import SeededRandom

/// What the client that was away and everybody else have done; the same in every run.
struct OfflineWorkload {
    var baseObjects: Int
    var localWrites: Int
    var remoteChanges: Int

    static let schema = [
        ObjectSchemaDescription(
            "Task", primaryKey: PropertyDescription("_id", .string),
            properties: [
                PropertyDescription("title", .string, isOptional: true), PropertyDescription("count", .int),
                PropertyDescription("done", .bool), PropertyDescription("numbers", .int, collection: .list),
            ])
    ]

    static func base(_ number: Int) -> String { "base-\(number)" }

    // MARK: The client's side

    /// One write transaction: of ten, four edit a field, one counts, two create, three edit a list.
    static func write(_ number: Int, in realm: Realm, objects: Int, _ random: inout SeededGenerator) throws {
        let key = base(random.below(objects))
        try realm.write {
            switch number % 10 {
            case 0, 3, 5, 8: realm.dynamicObject(ofType: "Task", forPrimaryKey: key)?["title"] = "offline \(number)"
            case 1: realm.dynamicObject(ofType: "Task", forPrimaryKey: key)?.increment("count", by: 1)
            case 2, 6:
                realm.dynamicCreate(
                    "Task", value: ["_id": "local-\(number)", "title": "made offline", "numbers": [number]])
            default:
                let object = realm.dynamicObject(ofType: "Task", forPrimaryKey: key)
                if let numbers = object?["numbers"] as? DynamicList {
                    numbers.insert(number, at: min(number % 3, numbers.count))
                }
            }
        }
    }

    // MARK: The server's side

    /// The changesets that make the realm as both sides know it, and the state itself.
    func base() throws -> (changesets: [[UInt8]], state: RealmState) {
        var state = RealmState(indexingIncomingLinks: true)
        var changesets: [[UInt8]] = []
        changesets.append(
            try state.record { transaction in
                try transaction.createTable("Task", key: KeySchema(name: "_id", type: .string, nullable: false))
                try transaction.addColumn("Task", "title", ElementType(type: .string, nullable: true))
                try transaction.addColumn("Task", "count", ElementType(type: .int, nullable: false))
                try transaction.addColumn("Task", "done", ElementType(type: .bool, nullable: false))
                try transaction.addColumn(
                    "Task", "numbers", ElementType(type: .int, nullable: false), collection: .list)
            }.changeset)
        for start in stride(from: 0, to: baseObjects, by: 100) {
            changesets.append(
                try state.record { transaction in
                    for number in start..<min(baseObjects, start + 100) {
                        try Self.create(Self.base(number), number, &transaction)
                    }
                }.changeset)
        }
        _ = state.takeChanges()
        return (try changesets.map { try Changeset(parsing: $0).encoded() }, state)
    }

    /// What the others did meanwhile: of twenty, twelve create, five edit a field, three edit a list.
    func remote(on state: inout RealmState) throws -> [[UInt8]] {
        var random = SeededGenerator(seed: 7)
        return try (0..<remoteChanges).map { number in
            let object = ObjectAddress("Task", .string(ByteString(Self.base(random.below(baseObjects)))))
            let bytes = try state.record { transaction in
                switch number % 20 {
                case 0, 4, 8, 12, 16:
                    try transaction.set(
                        FieldAddress(object, "title"), to: .string(ByteString("remote \(number)")))
                case 1, 7, 13:
                    let list = FieldAddress(object, "numbers")
                    try transaction.insert(.int(Int64(number)), at: list.appending(.index(number % 2)))
                default: try Self.create("remote-\(number)", number, &transaction)
                }
            }.changeset
            _ = state.takeChanges()
            return try Changeset(parsing: bytes).encoded()
        }
    }

    private static func create(_ key: String, _ number: Int, _ transaction: inout RecordingTransaction) throws {
        let object = ObjectAddress("Task", .string(ByteString(key)))
        try transaction.createObject(object)
        try transaction.set(FieldAddress(object, "title"), to: .string(ByteString("task number \(number)")))
        try transaction.set(FieldAddress(object, "count"), to: .int(Int64(number)))
        for index in 0..<3 {
            try transaction.insert(.int(Int64(index)), at: FieldAddress(object, "numbers", [.index(index)]))
        }
    }
}

/// A number for what a realm holds, whatever the order it is read in.
struct ContentNumber {
    private(set) var value: UInt64 = 0
    private(set) var objects = 0

    mutating func add(_ key: String, title: String?, count: Int, done: Bool, numbers: [Int]) {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(key)|\(title ?? "-")|\(count)|\(done)|\(numbers)".utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        value &+= hash
        objects += 1
    }

    init(_ realm: Realm) {
        for object in realm.dynamicObjects("Task") {
            let numbers = (object["numbers"] as? DynamicList).map { $0.compactMap { $0 as? Int } } ?? []
            add(
                object.primaryKey as? String ?? "?", title: object["title"] as? String,
                count: object["count"] as? Int ?? 0, done: object["done"] as? Bool ?? false, numbers: numbers)
        }
    }

    init(_ state: RealmState) {
        guard let table = state.schema.table("Task") else { return }
        for (key, object) in state.objects(of: "Task") {
            guard case .string(let name) = key else { continue }
            var title: String?
            var count = 0
            var done = false
            var numbers: [Int] = []
            for column in table.columns {
                switch object[column] {
                case .string(let text): title = text.string
                case .int(let number): count = Int(number)
                case .bool(let flag): done = flag
                case .list(let items):
                    numbers = items.compactMap { if case .int(let number) = $0 { Int(number) } else { nil } }
                default: break
                }
            }
            add(name.string, title: title, count: count, done: done, numbers: numbers)
        }
    }
}
