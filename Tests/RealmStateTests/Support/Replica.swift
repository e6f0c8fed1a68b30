import Changesets
import RealmState
import TestSupport
import Testing

/// An author's realm and a receiver that applies every changeset the author records.
struct Replica {
    var author: RealmState
    var receiver: RealmState
    var last: Changeset = Changeset()

    init(_ compatibility: PeerCompatibility = .stockClients, indexingIncomingLinks: Bool = true) throws {
        author = try SampleRealm.make(compatibility, indexingIncomingLinks: indexingIncomingLinks)
        receiver = try SampleRealm.make(compatibility)
    }

    /// Records, sends and compares.
    mutating func write(_ body: (inout RecordingTransaction) throws -> Void) throws {
        let (_, bytes) = try author.record(body)
        last = try Changeset(parsing: bytes)
        try receiver.apply(last)
        expectEqual(StateDump.canonical(of: author), StateDump.canonical(of: receiver))
        expectEqual(StateDump.digest(of: author), StateDump.digest(of: receiver))
    }

    /// The error of changes that must fail; they leave nothing behind.
    mutating func failure(_ body: (inout RecordingTransaction) throws -> Void) -> RecordingError? {
        let before = StateDump.canonical(of: author)
        do {
            _ = try author.record(body)
            return nil
        } catch {
            expectEqual(StateDump.canonical(of: author), before)
            return error as? RecordingError
        }
    }

    func value(_ field: ByteString, _ path: PathStep...) -> Value? {
        receiver.value(at: FieldAddress(SampleRealm.object, field, path))
    }

    /// What was recorded last, in short: codes of instructions, or markers where the payload matters.
    var shape: [String] { last.instructions.map(Self.text) }

    private static func text(_ instruction: Instruction) -> String {
        switch instruction {
        case .update(let update):
            switch update.value {
            case .null, .objectValue, .erased, .list, .dictionary: "Update(\(update.value.type))"
            default: update.qualifier == .isDefault(true) ? "Update default" : "Update"
            }
        case .addTable: "AddTable"
        case .eraseTable: "EraseTable"
        case .createObject: "CreateObject"
        case .eraseObject: "EraseObject"
        case .addInteger: "AddInteger"
        case .addColumn: "AddColumn"
        case .eraseColumn: "EraseColumn"
        case .arrayInsert(_, let value, let priorSize):
            value == .objectValue ? "ArrayInsert(objectValue) \(priorSize)" : "ArrayInsert \(priorSize)"
        case .arrayMove(let path, let to, let priorSize):
            "ArrayMove \(path.path.last.map(index) ?? -1) \(to) \(priorSize)"
        case .arrayErase(let path, let priorSize): "ArrayErase \(path.path.last.map(index) ?? -1) \(priorSize)"
        case .clear(_, let collection): "Clear(\(collection))"
        case .setInsert: "SetInsert"
        case .setErase: "SetErase"
        }
    }

    private static func index(_ element: PathElement) -> Int {
        if case .index(let index) = element { return Int(index) }
        return -1
    }
}
