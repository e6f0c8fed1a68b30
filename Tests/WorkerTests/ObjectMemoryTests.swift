import Changesets
import RealmState
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Worker

/// Objects count in memory as what they take, not one by one: few may be as large as uploads are allowed to be.
@Suite struct ObjectMemoryTests {
    private static func context(_ partition: String, _ limits: WorkerLimits) throws -> RealmContext {
        var schema = RealmState()
        try schema.apply(
            Changeset(
                parsing: {
                    var changeset = Changeset()
                    let table = changeset.strings.intern("Note")
                    changeset.instructions.append(
                        .addTable(
                            .init(
                                table: table,
                                kind: .topLevel(
                                    keyField: changeset.strings.intern("_id"), keyType: .int, keyNullable: false,
                                    asymmetric: false))))
                    return changeset.encoded()
                }()))
        return RealmContext(
            record: RealmRecord(
                id: RealmID(1), name: RealmName(app: "tasks", partition: "\"\(partition)\""), generation: 1, salt: 7,
                saltEpoch: Epoch(1)),
            schema: schema.schema, limits: limits)
    }

    private static func load(_ count: Int, of bytes: Int, into context: RealmContext) {
        for number in 0..<count {
            context.load(ObjectAddress("Note", .int(Int64(number))), StoredObject(), bytes: bytes)
        }
    }

    @Test func aRealmForgetsItsObjectsOnceTheyTakeTooMuch() throws {
        let limits = WorkerLimits()
        let context = try Self.context("a", limits)
        Self.load(1_000, of: limits.maxObjectBytesPerRealm / 1_000, into: context)
        context.committed(limits: limits)
        expectEqual(context.state.cachedObjectCount, 1_000)
        Self.load(1, of: 15 << 20, into: context)
        context.committed(limits: limits)
        expectEqual(context.state.cachedObjectCount, 0)
        expectEqual(context.objectBytes, 0)
    }

    @Test func aSliceForgetsTheRealmsUsedLongestAgoOnceObjectsTakeTooMuch() throws {
        let limits = WorkerLimits()
        var cache = RealmCache()
        let realms = try (0..<6).map { try Self.context("\($0)", limits) }
        for realm in realms {
            Self.load(1, of: 15 << 20, into: realm)
            cache.use(realm)
        }
        cache.trim(to: limits)
        expectEqual(realms.map { cache[$0.name] != nil }, [false, false, true, true, true, true])
    }
}
