import Changesets
import MergeConformance
import Query
import RealmState
import Rules
import SyncModel
import Views

/// What a user of a flexible app can have evaluated: an input is lines of the app's rules, of a subscription set, and of objects.
///
/// A set is refused with a reason or makes a view; what telling takes of which objects are in it is bounded by a polynomial of the input:
/// the square of what set, roles and object come to, times a step of the dearest kind. A bounded meter says the same or nothing.
enum ViewFuzz {
    private static let user = RuleUser(
        id: "65f0c0ffee65f0c0ffee65f1", data: ["email": .string("a@example.net")],
        customData: ["team": .string("red"), "teams": .array([.string("red"), .string("blue"), .null])])

    static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
        let parts = bytes.split(separator: 0x0A, maxSplits: 2, omittingEmptySubsequences: false).map { Array($0) }
        guard parts.count == 3, let schema else { return }
        let rules = RulesCheck(parts[0], schema: nil, app: RulesApp(syncMode: .flexible, emailsAreConfirmed: true))
        let roles = rules.document?.closedRoles(of: user).text ?? everything
        guard roles.utf8.count < 1 << 16, let set = String(validating: parts[1], as: UTF8.self) else { return }
        let definition = ViewDefinition(version: 1, queries: set, roles: roles)
        let view: View
        do throws(ViewError) {
            view = try View(definition, schema: schema)
        } catch {
            return try BrokenLaw.check(!error.message.isEmpty, "a set is refused without a reason")
        }
        let given = set.utf8.count + roles.utf8.count
        try BrokenLaw.check(view.bytes <= (1 << 14) + 256 * given, "\(given) bytes make a view of \(view.bytes)")
        for (number, object) in objects(parts[2]).enumerated() { try check(object, number, in: view, given) }
    }

    private static func check(
        _ object: StoredObject, _ number: Int, in view: View, _ given: Int
    ) throws(BrokenLaw) {
        guard let table = schema?.table("Item")?.id else { return }
        let key = ObjectKey.int(Int64(number))
        let meter = EvaluationMeter(perObject: .max)
        let isIn = view.metered(by: meter).membership(of: object, table, key)
        let size = given + object.encoded().count + 64
        let bound = 64 * size * (1 + size / 16)
        try BrokenLaw.check(meter.steps <= bound, "\(meter.steps) steps for \(size) bytes, allowed are \(bound)")
        try BrokenLaw.check(isIn == view.contains(object, table, key), "with a meter an object is elsewhere")
        let tight = EvaluationMeter(perObject: 1 + meter.steps / 2)
        let told = view.metered(by: tight).membership(of: object, table, key)
        try BrokenLaw.check(told == nil || told == isIn, "with few steps an object is elsewhere")
    }

    // MARK: Schema and objects

    private static let everything =
        ClosedRoles(text: #"{"classes":{},"others":null}"#)?.text ?? ""

    private static let schema: Schema? = {
        var state = RealmState()
        var changeset = Changeset()
        let item = changeset.strings.intern("Item")
        changeset.instructions.append(
            .addTable(
                .init(
                    table: item,
                    kind: .topLevel(
                        keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false, asymmetric: false)
                )))
        let columns: [(ByteString, PayloadType, CollectionType)] = [
            ("owner", .string, .single), ("team", .string, .single), ("count", .int, .single),
            ("tags", .string, .list), ("scores", .int, .list), ("any", .null, .single),
        ]
        for (name, type, collection) in columns {
            changeset.instructions.append(
                .addColumn(
                    .init(
                        table: item, field: changeset.strings.intern(name), type: type, nullable: collection == .single,
                        collection: collection)))
        }
        do { try state.apply(changeset) } catch { return nil }
        return state.schema
    }()

    /// Three bytes make a property: which one, how much of it, and what it repeats.
    private static func objects(_ bytes: [UInt8]) -> [StoredObject] {
        guard let table = schema?.table("Item") else { return [] }
        var objects = [StoredObject()]
        for start in stride(from: 0, to: bytes.count - 2, by: 3) {
            let (choice, amount, unit) = (Int(bytes[start]), Int(bytes[start + 1]), bytes[start + 2])
            if choice >= 0xF8 {
                guard objects.count < 4 else { break }
                objects.append(StoredObject())
                continue
            }
            let column = table.columns[choice % table.columns.count]
            let text = Value.string(ByteString([UInt8](repeating: 0x61 + unit % 4, count: 32 * amount)))
            let value: Value =
                switch column.name {
                case "owner", "team", "any": text
                case "count": .int(Int64(amount))
                case "tags":
                    .list((0..<amount).map { .string(ByteString([UInt8](repeating: 0x61 + unit % 4, count: $0 % 8))) })
                default: .list((0..<amount).map { .int(Int64($0 * Int(unit))) })
                }
            objects[objects.count - 1][column.id] = value
        }
        return objects
    }
}
