import Messages
import Storage
import SyncModel
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite struct SessionDirectoryTests {
    private static let judged = JudgedBy(rules: 1, users: 1)

    /// Counts what it is told.
    private final class Sink: SessionSink {
        let told = Mutex<[UInt64]>([])
        func deliver(_ event: SessionEvent, to number: UInt64) { told.withLock { $0.append(number) } }
        func settingsChanged(app: String) { told.withLock { $0.append(0) } }
        func judgeAgain(_ numbers: [UInt64], by app: AppRecord, checksLogin: Bool) async throws {}
    }

    @Test func aGenerationIsToldOnlyToSessionsThatAreBehindIt() {
        let directory = SessionDirectory()
        let sink = Sink()
        var numbers: [UInt64] = []
        for (app, generation) in [("tasks", 1), ("tasks", 2), ("tasks", 0), ("shop", 1)] as [(String, UInt64)] {
            let number = directory.nextNumber()
            numbers.append(number)
            _ = directory.add(
                number, realm: RealmName(app: app, partition: "\"p\(number)\""), user: "u", sink: sink,
                judged: Self.judged)
            directory.bound(number, generation: generation)
        }
        directory.deliver(GenerationNotice(app: "tasks", slice: SliceNumber(0), generation: 2, campaign: "c"))
        expectEqual(sink.told.withLock { $0 }, [numbers[0]])
    }

    @Test func aSettingIsToldOnceToAConnectionOfManySessions() {
        let directory = SessionDirectory()
        let sink = Sink()
        for _ in 0..<3 {
            _ = directory.add(
                directory.nextNumber(), realm: RealmName(app: "tasks", partition: "\"p\""), user: "u", sink: sink,
                judged: Self.judged)
        }
        directory.settingsChanged(app: "tasks")
        expectEqual(sink.told.withLock { $0 }, [0])
    }
}
