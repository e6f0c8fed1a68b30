import Messages
import Storage
import SyncModel
import TestSupport
import Testing

@testable import Inspection

@Suite struct RealmExportTests {
    @Test func objectsAreWrittenAsExtendedJSONLines() async throws {
        let realm = try await StoredRealm()
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        var lines: [String] = []
        let count = try await RealmExport(reader: reader, name: StoredRealm.name).state { lines.append($0) }
        expectTrue(count.objects == 3 && lines.count == 5)
        expectTrue(lines[0].contains(#""content":"state""#) && lines[0].contains(#""version":3"#))
        expectTrue(lines[1].contains(#""schema":"Dog""#) && lines[1].contains(#""primaryKey":{"name":"_id""#))
        expectEqual(lines[2], #"{"class":"Dog","object":{"_id":{"$numberLong":"7"}}}"#)
    }

    @Test func theHistoryIsWrittenAsChangesets() async throws {
        let realm = try await StoredRealm()
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        var lines: [String] = []
        let count = try await RealmExport(reader: reader, name: StoredRealm.name).history { lines.append($0) }
        expectTrue(count.versions == 3 && lines.count == 4)
        expectTrue(lines[1].contains(StoredRealm.dogs[0]) && lines[2].contains(#""clientVersion":2"#))
        expectTrue(!lines.contains { $0.contains("salt") })
        expectEqual(lines.map { $0.contains("\"event\":\"order-17\"") }, [false, false, true, false])
        expectEqual(lines.filter { $0.contains("\"event\"") }.count, 1)
    }

    @Test func aRealmThatIsNotThereIsNamed() async throws {
        let realm = try await StoredRealm()
        let reader = try await realm.readers.reader(for: SliceNumber(0))
        let export = RealmExport(reader: reader, name: RealmName(app: "tasks", partition: "\"se\""))
        await #expect(throws: InspectionError.self) { _ = try await export.state { _ in } }
    }
}
