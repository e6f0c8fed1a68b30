import Changesets
import SeededRandom

/// One client at its edits: knows what its lists hold, so that every instruction is one that an honest client records.
struct ScriptedClient {
    let kind: MergeInputKind
    let side: UInt64
    var random: SeededGenerator
    /// The sizes of lists by the text of their path; one not in here has its kind's first size.
    var sizes: [String: UInt32] = [:]
    private var encoder = StreamingEncoder()
    private var count = 0

    init(kind: MergeInputKind, side: UInt64, seed: UInt64) {
        self.kind = kind
        self.side = side
        random = SeededGenerator(seed: seed)
    }

    mutating func transaction(of instructions: Int) -> [UInt8] {
        encoder = StreamingEncoder()
        count = 0
        while count < instructions { edit() }
        return encoder.bytes
    }

    mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(max(1, limit))) }

    // MARK: Recording

    mutating func intern(_ string: String) -> InternedString { encoder.strings.intern(ByteString(string)) }

    mutating func path(_ object: ScriptedObject, _ field: String, _ steps: [ScriptedStep] = []) -> FieldPath {
        let table = intern(object.table)
        let key = key(object)
        let field = intern(field)
        return FieldPath(
            table: table, object: key, field: field,
            path: PathElements(
                steps.map { step -> PathElement in
                    switch step {
                    case .index(let index): .index(index)
                    case .key(let key): .key(intern(key))
                    }
                }))
    }

    mutating func key(_ object: ScriptedObject) -> PrimaryKey {
        switch object.key {
        case .int(let value): .int(value)
        case .string(let value): .string(intern(value))
        case .objectID(let low): .objectID(ObjectIDValue(high: 0x5F, low: low))
        }
    }

    mutating func link(_ object: ScriptedObject) -> Payload { .link(table: intern(object.table), key: key(object)) }

    mutating func record(_ instruction: Instruction) {
        encoder.append(instruction)
        count += 1
    }

    mutating func set(_ object: ScriptedObject, _ field: String, _ steps: [ScriptedStep] = [], to value: Payload) {
        record(
            .update(.init(target: path(object, field, steps), value: value, qualifier: .isDefault(false))))
    }

    mutating func create(_ object: ScriptedObject) {
        record(.createObject(table: intern(object.table), object: key(object)))
    }

    mutating func erase(_ object: ScriptedObject) {
        record(.eraseObject(table: intern(object.table), object: key(object)))
    }
}

struct ScriptedObject {
    enum Key {
        case int(Int64), string(String), objectID(UInt32)
    }
    var table: String
    var key: Key

    static func item(_ number: Int) -> ScriptedObject { .init(table: "Item", key: .int(Int64(number))) }

    var text: String { "\(table) \(key)" }
}

enum ScriptedStep {
    case index(UInt32), key(String)
}
