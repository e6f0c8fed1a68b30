import Changesets
import Foundation
import SyncModel
import SyncProtocol

/// What a client realm has to upload, made before the clock starts.
struct Workload: Sendable {
    /// UPLOADs as masked frames, as a stock client packs them.
    var frames: [UInt8]
    /// Acknowledged when a DOWNLOAD reports this version.
    var lastVersion: UInt64
    var changesets: Int
    var bytes: Int

    /// Stock clients close an UPLOAD at so many bytes of changesets.
    private static let uploadBytes = 128 << 10

    /// - Parameters:
    ///   - client: keeps its objects apart from other clients'.
    ///   - first: the client version of the first changeset.
    ///   - seen: the server version that the client has seen.
    ///   - schema: whether the first changeset makes the class, too.
    init(
        client: Int, changesets count: Int, objects: Int, first: UInt64 = 10, seen: UInt64 = 0, schema: Bool = true,
        run: Int = 0
    ) throws {
        try self.init(
            (0..<count).map { number in
                SampleChangeset.bytes(
                    client: client, number: Int(first) + number, objects: objects, schema: schema && number == 0,
                    run: run)
            }, first: first, seen: seen)
    }

    /// Changesets as they are.
    init(_ changesets: [[UInt8]], first: UInt64, seen: UInt64, mode: SyncMode = .partition) throws {
        let encoder = MessageEncoder(mode: mode)
        let now = UInt64(max(0, Date().timeIntervalSince1970 * 1000)) - 1_420_070_400_000
        var entries: [UploadedChangeset] = []
        var size = 0
        var total = 0
        var version = first
        var frames: [UInt8] = []
        func close() throws {
            guard let last = entries.last else { return }
            let upload = Upload(
                session: LoadClient.session, progress: last.cursor,
                lockedServerVersion: ServerVersion(rawValue: seen), entries: entries)
            frames += ClientFrame.masked(try encoder.encode(.upload(upload)))
            entries = []
            size = 0
        }
        for (number, changeset) in changesets.enumerated() {
            entries.append(
                UploadedChangeset(
                    clientVersion: ClientVersion(rawValue: version), serverVersion: ServerVersion(rawValue: seen),
                    timestamp: SyncTimestamp(rawValue: now + UInt64(number)), changeset: changeset))
            version += 1
            size += changeset.count
            total += changeset.count
            if size >= Self.uploadBytes { try close() }
        }
        try close()
        self.frames = frames
        lastVersion = version - 1
        self.changesets = changesets.count
        bytes = total
    }
}

/// A write that creates objects with a key and three fields each, as an app's would.
enum SampleChangeset {
    static func bytes(client: Int, number: Int, objects: Int, schema: Bool, run: Int) -> [UInt8] {
        var strings = InternTable()
        var instructions: [Instruction] = []
        let task = strings.intern("Task")
        if schema { instructions += Self.schema(task, &strings) }
        let title = strings.intern("title")
        let isDone = strings.intern("isDone")
        let priority = strings.intern("priority")
        for object in 0..<objects {
            let serial = number * objects + object
            let key = Self.key(serial, client, run)
            func set(_ field: InternedString, _ value: Payload) {
                instructions.append(
                    .update(
                        .init(
                            target: FieldPath(table: task, object: key, field: field), value: value,
                            qualifier: .isDefault(false))))
            }
            instructions.append(.createObject(table: task, object: key))
            set(title, .string(ByteString("Task \(serial) of client \(client)")))
            set(isDone, .bool(serial.isMultiple(of: 2)))
            set(priority, .int(Int64(serial % 10)))
        }
        return Changeset(strings: strings, instructions: instructions).encoded()
    }

    /// A write that changes one field of an object that `bytes` has made.
    static func change(of serial: Int, madeBy client: Int, run: Int, title: String) -> [UInt8] {
        var strings = InternTable()
        let target = FieldPath(
            table: strings.intern("Task"), object: Self.key(serial, client, run), field: strings.intern("title"))
        let update = Instruction.update(
            .init(target: target, value: .string(ByteString(title)), qualifier: .isDefault(false)))
        return Changeset(strings: strings, instructions: [update]).encoded()
    }

    private static func key(_ serial: Int, _ client: Int, _ run: Int) -> PrimaryKey {
        .objectID(
            ObjectIDValue(
                high: UInt64(run) << 48 | UInt64(client) << 24 | UInt64(serial >> 16),
                low: UInt32(truncatingIfNeeded: serial)))
    }

    private static func schema(_ task: InternedString, _ strings: inout InternTable) -> [Instruction] {
        func column(_ name: ByteString, _ type: PayloadType) -> Instruction {
            .addColumn(
                .init(table: task, field: strings.intern(name), type: type, nullable: false, collection: .single))
        }
        let key = strings.intern("_id")
        return [
            .addTable(
                .init(
                    table: task,
                    kind: .topLevel(keyField: key, keyType: .objectID, keyNullable: false, asymmetric: false))),
            column("title", .string), column("isDone", .bool), column("priority", .int),
        ]
    }
}
