import AMQP
import ArgumentParser
import Changesets
import Documents
import ExtendedJSON
import Messages
import SyncModel

struct PublishWrite: PublishingCommand {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Publish writes on documents of a realm: one version, all of them or none.",
        discussion: """
            The writes of the arguments are one event; docs/documents.md says what a write may be. With --file each \
            line is an event, {"id": "w-1", "realm": {"app": "tasks", "partition": "store-nw"}, "writes": [...]}, \
            without the realm where arguments name it. With --partition-key the documents say their partition \
            themselves, by one of their properties.
            """)

    @OptionGroup(title: "The cluster") var cluster: ClusterOptions
    @OptionGroup var events: EventOptions
    @OptionGroup var realm: EventRealmOptions
    @Option(help: "The property of the documents that says their partition, instead of --partition.")
    var partitionKey: String?
    @Option(help: "Only if the realm is at this version.") var ifVersion: UInt64?
    @Argument(help: "A write, such as {\"delete\": \"Task\", \"id\": 7}; repeat it for several.") var writes: [String] =
        []

    func eventFromArguments() throws -> Event {
        guard !writes.isEmpty else {
            throw CommandFailure(.badInput, "give --app, --partition or --flexible, and a write; or --file")
        }
        let values = try writes.map { text throws(CommandFailure) in try Self.read(text, "the write") }
        let writes = BSONValue.array(values)
        let onlyIf: BSONValue? = ifVersion.map { ["version": BSONValue(Int64(clamping: $0))] }
        return try Self.event(
            WriteMessage(
                realm: try name(for: writes), partitionKey: partitionKey.map { ByteString($0) }, writes: writes,
                onlyIf: onlyIf), nil)
    }

    func event(from line: EventLine) throws -> Event {
        guard var body = try Self.read(line.text, "line \(line.number)").document else {
            throw CommandFailure(.badInput, "line \(line.number): expected a JSON object")
        }
        if let app = realm.app, let partitionKey {
            body["realm"] = ["app": BSONValue(app), "partitionKey": BSONValue(partitionKey)]
        } else if let name = realm.name {
            body["realm"] = .document(name.document)
        }
        let text = ExtendedJSONWriter.text(of: .document(body))
        return try Self.event(EventLine(number: line.number, text: text).decode(), "line \(line.number)")
    }

    func validate() throws {
        guard partitionKey != nil else { return }
        if realm.app == nil { throw ValidationError("--partition-key: give --app with it") }
        if realm.partition != nil || realm.flexible {
            throw ValidationError("--partition-key says the partition: leave --partition and --flexible out")
        }
    }

    private func name(for writes: BSONValue) throws(CommandFailure) -> RealmName {
        if let app = realm.app, let partitionKey {
            do throws(MessageError) {
                return try PartitionOfWrites.realm(of: app, by: ByteString(partitionKey), writes)
            } catch {
                throw CommandFailure(.badInput, error.reason)
            }
        }
        guard let name = realm.name else {
            throw CommandFailure(.badInput, "give --app, and --partition, --partition-key or --flexible; or --file")
        }
        return name
    }

    /// - Parameter place: where the event was given; nil: in the arguments.
    /// - Throws: `badInput` for writes that no owner could read: where nobody waits, they would go to the dead letters.
    private static func event(_ message: WriteMessage, _ place: String?) throws -> Event {
        do {
            _ = try WriteBatch(writes: message.writes, onlyIf: message.onlyIf)
        } catch {
            throw CommandFailure(.badInput, (place.map { "\($0): " } ?? "") + "\(error)")
        }
        return Event(message)
    }

    private static func read(_ text: String, _ place: String) throws(CommandFailure) -> BSONValue {
        do throws(ExtendedJSONError) {
            return try ExtendedJSONParser.parse(Array(text.utf8))
        } catch {
            throw CommandFailure(.badInput, "\(place): \(error)")
        }
    }
}
